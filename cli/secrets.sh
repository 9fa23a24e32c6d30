#!/bin/sh
# Writes the secrets that docker-compose.yml reads, one file each, and keeps files that exist:
#   sh cli/secrets.sh [FOLDER]    default: ./secrets
# POSTGRES_PASSWORD, REDIS_PASSWORD, GRAFANA_PASSWORD, TOUCHSTONE_SECRET_KEYS and
# TOUCHSTONE_WEBHOOK_KEYS are taken from the environment or .env where they are set.
# Only the owner can open the folder. The files are readable, as containers run as other users.
set -eu
folder=${1:-secrets}
mkdir -p "$folder"
chmod 700 "$folder"

word() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
key() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n'; }

given() {  # VARIABLE: its value in the environment or .env, or nothing
	eval "value=\${$1:-}"
	if [ -z "$value" ] && [ -f .env ]; then
		value=$(sed -n "s/^$1=//p" .env | tail -n 1 | sed "s/^[\"']//; s/[\"']\$//")
	fi
	printf %s "$value"
}

keep() {  # FILE CONTENT
	if [ -s "$folder/$1" ]; then return; fi
	printf %s "$2" > "$folder/$1.new"
	chmod 444 "$folder/$1.new"
	mv "$folder/$1.new" "$folder/$1"
	echo "$folder/$1"
}

made() {  # FILE VARIABLE GENERATOR
	value=$(given "$2")
	keep "$1" "${value:-$($3)}"
}

made postgres_password POSTGRES_PASSWORD word
made redis_password REDIS_PASSWORD word
made grafana_password GRAFANA_PASSWORD word
made secret_keys TOUCHSTONE_SECRET_KEYS key
made webhook_keys TOUCHSTONE_WEBHOOK_KEYS key
keep database_url "postgresql://touchstone:$(cat "$folder/postgres_password")@postgres:5432/touchstone"
keep redis_url "redis://:$(cat "$folder/redis_password")@redis:6379/0"
