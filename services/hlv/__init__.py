"""HLV: rankings, distributions and scores of a judge against human label variation."""
