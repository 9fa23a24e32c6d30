"""Input and output: files and frames to requests, and scores to files and frames."""

from touchstone_client.data.conversion import convert
from touchstone_client.data.mapping import ColumnMapping, Columns
from touchstone_client.data.readers import Reading

__all__ = ["ColumnMapping", "Columns", "Reading", "convert"]
