#!/bin/sh
# Writes the secrets that docker-compose.yml and docker-compose.watch.yml read: one file each in ./secrets (or the folder that is
# named), once; a file that is there stays. What an earlier .env or the environment says of
# POSTGRES_PASSWORD, REDIS_PASSWORD, TOUCHSTONE_SECRET_KEYS and TOUCHSTONE_WEBHOOK_KEYS is taken over.
# The folder is closed to others; its files are not, since each container reads its own as another user.
set -eu
folder=${1:-secrets}
mkdir -p "$folder"
chmod 700 "$folder"

word() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
key() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n'; }

earlier() {  # of this variable; nothing where there is none
	eval "value=\${$1:-}"
	if [ -z "$value" ] && [ -f .env ]; then
		value=$(sed -n "s/^$1=//p" .env | tail -n 1 | sed "s/^[\"']//; s/[\"']\$//")
	fi
	printf %s "$value"
}

keep() {  # file, content
	if [ -s "$folder/$1" ]; then return; fi
	printf %s "$2" > "$folder/$1.new"
	chmod 444 "$folder/$1.new"
	mv "$folder/$1.new" "$folder/$1"
	echo "$folder/$1"
}

made() {  # file, variable, command that makes one
	value=$(earlier "$2")
	keep "$1" "${value:-$($3)}"
}

made postgres_password POSTGRES_PASSWORD word
made redis_password REDIS_PASSWORD word
made grafana_password GRAFANA_PASSWORD word
made secret_keys TOUCHSTONE_SECRET_KEYS key
made webhook_keys TOUCHSTONE_WEBHOOK_KEYS key
keep database_url "postgresql://touchstone:$(cat "$folder/postgres_password")@postgres:5432/touchstone"
keep redis_url "redis://:$(cat "$folder/redis_password")@redis:6379/0"
