"""Statistics that every metric uses. The functions are pure: arrays and messages in, numbers and
messages out."""
