#!/usr/bin/env bash
# tansy.sh "Full Name" YYYY-MM-DD
# One line: "tansy|clear", "tansy|match" or "tansy|error|<reason>".
set -u -o pipefail

main() {
  local name=${1-} dob=${2-} base basic reply status body token
  base=${IDV_BASE_URL%/}
  name=$(printf '%s' "$name" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')

  if [ -z "$name" ]; then echo "error|name"; return 1; fi
  if ! [[ $dob =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || [ "$(date -d "$dob" +%F 2>/dev/null)" != "$dob" ] || [[ $dob > $(date +%F) ]]; then
    echo "error|date"; return 1
  fi

  basic=$(printf '%s:%s' "$IDV_CUSTOMER_ID" "$IDV_API_KEY" | base64 -w0)
  reply=$(curl --silent --connect-timeout 5 --config - --write-out '\n%{http_code}' \
    --data 'grant_type=client_credentials' "$base/oauth/service" <<< "header = \"Authorization: Basic $basic\"") ||
    { echo "error|token"; return 1; }
  status=${reply##*$'\n'}
  [ "$status" = 200 ] || { echo "error|token-$status"; return 1; }
  token=$(jq -er '.access_token | strings' <<< "${reply%$'\n'*}" 2>/dev/null) || { echo "error|token-body"; return 1; }

  reply=$(NAME=$name DOB="${dob:8:2}-${dob:5:2}-${dob:0:4}" \
    jq -cn '{entity_type: "person", name: env.NAME, dob: env.DOB}' |
    curl --silent --connect-timeout 5 --config <(printf 'header = "Authorization: Bearer %s"\n' "$token") \
      --header 'Content-Type: application/json' --write-out '\n%{http_code}' --data-binary @- "$base/api/aml") ||
    { echo "error|check"; return 1; }
  status=${reply##*$'\n'}
  [ "$status" = 200 ] || { echo "error|check-$status"; return 1; }
  body=${reply%$'\n'*}

  NAME=$name YEAR=${dob:0:4} jq -er '
    .credentials.attributes as $a
    | if .credential_type != "aml" or ($a.aml_profile | length) == 0 then "error|credential"
      elif $a.birth_year != env.YEAR or ($a.name | ascii_downcase) != (env.NAME | ascii_downcase) then "error|person"
      elif $a.match_found == "No" then "clear"
      elif $a.match_found == "Potential match" then "match"
      else "error|result" end' <<< "$body" 2>/dev/null || { echo "error|body"; return 1; }
}

result=$(main "$@")
echo "tansy|$result"
