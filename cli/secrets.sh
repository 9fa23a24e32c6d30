#!/bin/sh
# Writes the secrets that docker-compose.yml reads, one file each, and keeps files that exist:
#   sh cli/secrets.sh [--cluster] [FOLDER]    default: TOUCHSTONE_SECRETS, or ./secrets
# --cluster also prints the chart's secrets, one for each consumer, for `kubectl apply -f -`. For
# Redis and PostgreSQL elsewhere, first put your own addresses into redis_url, database_url and
# scaler_url (the role for KEDA). A password file that is missing is taken from its address; if they
# differ, nothing is printed.
# POSTGRES_PASSWORD, REDIS_PASSWORD, GRAFANA_PASSWORD, TOUCHSTONE_SECRET_KEYS and
# TOUCHSTONE_WEBHOOK_KEYS are taken from the environment or .env where they are set.
# Only the owner can open the folder. The files are readable, as containers run as other users.
set -eu
cluster=
if [ "${1:-}" = --cluster ]; then cluster=1; shift; fi
fail() {
	echo "$1" >&2
	exit 1
}

word() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
key() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n'; }

given() {  # VARIABLE: its value in the environment or .env, or nothing
	eval "value=\${$1:-}"
	if [ -z "$value" ] && [ -f .env ]; then
		value=$(sed -n "s/^$1=//p" .env | tail -n 1 | sed "s/^[\"']//; s/[\"']\$//")
	fi
	printf %s "$value"
}

folder=${1:-$(given TOUCHSTONE_SECRETS)}
folder=${folder:-secrets}
mkdir -p "$folder"
chmod 700 "$folder"

keep() {  # FILE CONTENT
	if [ -s "$folder/$1" ]; then return; fi
	printf %s "$2" > "$folder/$1.new"
	chmod 444 "$folder/$1.new"
	mv "$folder/$1.new" "$folder/$1"
	echo "$folder/$1" >&2
}

made() {  # FILE VARIABLE GENERATOR
	value=$(given "$2")
	keep "$1" "${value:-$($3)}"
}

encoded() {  # VALUE: percent-encoded where an address needs it
	case $1 in
		*[!A-Za-z0-9._~-]*) printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g' ;;
		*) printf %s "$1" ;;
	esac
}

decoded() {
	printf %s "$1" | LC_ALL=C awk '
		BEGIN { for (i = 1; i < 256; i++) code[sprintf("%02X", i)] = i }
		{
			while (match($0, /%[0-9A-Fa-f][0-9A-Fa-f]/)) {
				printf "%s%c", substr($0, 1, RSTART - 1), code[toupper(substr($0, RSTART + 1, 2))]
				$0 = substr($0, RSTART + 3)
			}
			printf "%s", $0
		}'
}

agree() {  # PASSWORD_FILE ADDRESS_FILE HOST: they hold one password, if the server is the bundled one
	address=$(cat "$folder/$2" 2>/dev/null) || return 0
	case $address in *"@$3:"*) ;; *) return 0 ;; esac
	account=${address#*://} account=${account%%@*}
	password=$(decoded "${account#*:}")
	keep "$1" "$password"
	[ "$(cat "$folder/$1")" = "$password" ] ||
		fail "$folder/$1 and $folder/$2 hold different passwords: delete the file with the wrong one and run this again"
}

agree postgres_password database_url postgres
agree redis_password redis_url redis
made postgres_password POSTGRES_PASSWORD word
made redis_password REDIS_PASSWORD word
made grafana_password GRAFANA_PASSWORD word
made secret_keys TOUCHSTONE_SECRET_KEYS key
made webhook_keys TOUCHSTONE_WEBHOOK_KEYS key
keep database_url "postgresql://touchstone:$(encoded "$(cat "$folder/postgres_password")")@postgres:5432/touchstone"
keep redis_url "redis://:$(encoded "$(cat "$folder/redis_password")")@redis:6379/0"

[ -n "$cluster" ] || exit 0
host=postgres.${NAMESPACE:-touchstone}.svc
agree scaler_password scaler_url "$host"
made scaler_password SCALER_PASSWORD word
case $(cat "$folder/database_url") in
	*@postgres:*)
		keep scaler_url "postgresql://scaler:$(encoded "$(cat "$folder/scaler_password")")@$host:5432/touchstone?sslmode=disable"
		grep -qF "@$host:" "$folder/scaler_url" ||
			fail "$folder/scaler_url is not for $host: set NAMESPACE, or delete the file"
		;;
	*) [ -s "$folder/scaler_url" ] || echo "no $folder/scaler_url: KEDA cannot connect to your PostgreSQL" >&2 ;;
esac

entry() { printf "  %s: '%s'\n" "$1" "$(printf %s "$2" | sed "s/'/''/g")"; }  # KEY VALUE, in YAML

secret() {  # NAME KEY=FILE...: a manifest
	printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: {name: touchstone-%s}\nstringData:\n' "$1"
	shift
	for pair; do entry "${pair%%=*}" "$(cat "$folder/${pair#*=}")"; done
}
models="REDIS_URL=redis_url TOUCHSTONE_SECRET_KEYS=secret_keys"
stores="DATABASE_URL=database_url $models"
for name in gateway scheduler; do secret $name $stores TOUCHSTONE_WEBHOOK_KEYS=webhook_keys; done
secret metrics $stores
secret models $models
secret migrate DATABASE_URL=database_url
secret redis REDISCLI_AUTH=redis_password
secret postgres POSTGRES_PASSWORD=postgres_password SCALER_PASSWORD=scaler_password
[ ! -s "$folder/scaler_url" ] || secret scaler connection=scaler_url
# what pg_dump and psql read, taken from database_url
address=$(cat "$folder/database_url")
rest=${address#*://}
account=${rest%%@*} place=${rest#*@}
server=${place%%/*} database=${place#*/}
option() { printf '%s' "$address" | tr '?&' '\n\n' | sed -n "s/^$1=//p"; }
printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: {name: touchstone-backup}\nstringData:\n'
entry PGHOST "${server%%:*}"
entry PGUSER "$(decoded "${account%%:*}")"
entry PGPASSWORD "$(decoded "${account#*:}")"
entry PGDATABASE "$(decoded "${database%%\?*}")"
case $server in *:*) entry PGPORT "${server##*:}" ;; esac
for name in sslmode sslrootcert; do
	value=$(decoded "$(option "$name")")
	[ -z "$value" ] || entry "PG$(printf %s "$name" | tr a-z A-Z)" "$value"
done
