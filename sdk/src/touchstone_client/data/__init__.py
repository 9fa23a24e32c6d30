"""Input and output: converts files and tables to requests, and scores to files and tables."""

from touchstone_client.data.conversion import convert
from touchstone_client.data.mapping import ColumnMapping, Columns
from touchstone_client.data.readers import Reading

__all__ = ["ColumnMapping", "Columns", "Reading", "convert"]
