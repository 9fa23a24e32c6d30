"""HLV: compares the rankings, distributions and scores of a judge with human label variation."""
