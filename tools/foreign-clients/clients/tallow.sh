#!/bin/bash
# Onboarding screening. Usage: tallow.sh "Full Name" YYYY-MM-DD
# Prints "screening: clear", "screening: review" or "screening: error".

name=$1
dob=$2

fail() {
  echo "screening: error"
  exit 1
}

[ -n "$name" ] || fail
[[ $dob =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || fail
[ "$(date -d "$dob" +%F 2>/dev/null)" = "$dob" ] || fail
[[ "$dob" > "$(date +%F)" ]] && fail
[ -n "$IDV_BASE_URL" ] && [ -n "$IDV_CUSTOMER_ID" ] && [ -n "$IDV_API_KEY" ] || fail

base=${IDV_BASE_URL%/}
day=${dob:8:2}-${dob:5:2}-${dob:0:4}

basic=$(printf '%s:%s' "$IDV_CUSTOMER_ID" "$IDV_API_KEY" | base64 -w0)
token=$(printf 'header = "Authorization: Basic %s"\n' "$basic" |
  curl -s -f --max-time 5 -K - -d grant_type=client_credentials "$base/oauth/service" |
  sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p')
[ -n "$token" ] || fail

body="{\"entity_type\":\"person\",\"name\":\"$name\",\"dob\":\"$day\"}"
answer=$(printf '%s' "$body" |
  curl -s --max-time 8 -K <(printf 'header = "Authorization: Bearer %s"\n' "$token") \
    -H 'Content-Type: application/json' --data-binary @- "$base/api/aml") || fail

if echo "$answer" | grep -q "Potential match"; then
  echo "screening: review"
  exit 2
elif echo "$answer" | grep -q "No"; then
  echo "screening: clear"
  exit 0
fi
fail
