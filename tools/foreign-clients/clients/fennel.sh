#!/usr/bin/env bash
# Fennel AML check.
# Usage: fennel.sh NAME YYYY-MM-DD
# Prints "ok" (exit 0), "hold" (exit 10) or "failed: <step>" (exit 20).
#
# Secrets and personal data reach curl through pipes, because other users of the
# machine can read the arguments of a process.
set -euo pipefail
umask 077

failed() {
  echo "failed: $1"
  exit 20
}

require() { [ -n "${!1-}" ] || failed configuration; }

# Escapes a value for a quoted string in a curl configuration file.
quoted() {
  local value=${1//\\/\\\\}
  value=${value//\"/\\\"}
  printf '"%s"' "$value"
}

# Removes the status line that curl appends and requires status 200.
body_of() {
  local reply=$1 step=$2 status
  status=${reply##*$'\n'}
  [ "$status" = 200 ] || failed "$step status $status"
  printf '%s' "${reply%$'\n'*}"
}

[ $# -eq 2 ] || failed usage
require IDV_BASE_URL
require IDV_CUSTOMER_ID
require IDV_API_KEY
case $IDV_CUSTOMER_ID in *:*) failed configuration ;; esac
case $IDV_CUSTOMER_ID$IDV_API_KEY in *$'\n'*) failed configuration ;; esac

name=$(printf '%s' "$1" | sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//')
[ -n "$name" ] || failed name
case $2 in
  [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]) ;;
  *) failed date ;;
esac
[ "$(date -u -d "$2" +%F 2>/dev/null)" = "$2" ] || failed date
[[ ! $2 > $(date -u +%F) ]] || failed date

base=${IDV_BASE_URL%/}
common=(--silent --no-location --proto '=http,https' --connect-timeout 3 --write-out '\n%{http_code}')

reply=$(printf 'user = %s\n' "$(quoted "$IDV_CUSTOMER_ID:$IDV_API_KEY")" |
  curl "${common[@]}" --max-time 4 --basic --config - \
    --header 'Accept: application/json' --data 'grant_type=client_credentials' \
    "$base/oauth/service") || failed "token connection"
grant=$(body_of "$reply" token) || { echo "$grant"; exit 20; }
token=$(jq -er '.access_token | strings | select(test("^[!-~]+$"))' <<<"$grant" 2>/dev/null) || failed "token body"

payload=$(P_NAME=$name P_DOB="${2:8:2}-${2:5:2}-${2:0:4}" \
  jq -cn '{entity_type: "person", name: env.P_NAME, dob: env.P_DOB}')
reply=$(printf '%s' "$payload" |
  curl "${common[@]}" --max-time 8 --config <(printf 'header = %s\n' "$(quoted "Authorization: Bearer $token")") \
    --header 'Content-Type: application/json' --header 'Accept: application/json' \
    --data-binary @- "$base/api/aml") || failed "check connection"
credential=$(body_of "$reply" check) || { echo "$credential"; exit 20; }

verdict=$(P_NAME=$name P_YEAR=${2:0:4} jq -r --slurp '
  def fold: ascii_downcase | gsub("\\s+"; " ");
  if length != 1 then "documents" else
    .[0] as $c | $c.credentials.attributes as $a |
    if $c.credential_type != "aml" then "type"
    elif ([$a.name, $a.birth_year, $a.match_found, $a.aml_profile, $a.searched_on] | all(type == "string" and . != "") | not) then "fields"
    elif $a.birth_year != env.P_YEAR or ($a.name | fold) != (env.P_NAME | fold) then "person"
    elif $a.match_found == "No" then "CLEAR"
    elif $a.match_found == "Potential match" then "HOLD"
    else "value" end
  end' <<<"$credential" 2>/dev/null) || failed "check body"

case $verdict in
  CLEAR) echo ok ;;
  HOLD) echo hold; exit 10 ;;
  *) failed "check $verdict" ;;
esac
