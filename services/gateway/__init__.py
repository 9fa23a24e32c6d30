"""The gateway: the process that answers HTTP requests. It stores jobs in the jobs database and puts
messages into the workers' queues. It runs no models."""
