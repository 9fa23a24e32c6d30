"""Statistics that every metric uses. Pure: arrays and messages in, numbers and messages out."""
