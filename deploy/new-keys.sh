#!/bin/sh
# Prints the keys of a new installation, as NAME=value lines:      deploy/new-keys.sh > keys.env
# With service names, prints only new signing keys of those services: deploy/new-keys.sh gateway
# Needs OpenSSL 1.1.1 or newer. Keep the output secret, and back it up.
set -eu

base64() { openssl base64 -A; }
symmetric() { openssl rand 32 | base64; }

if [ $# -eq 0 ]; then
  echo "TOKEN_KEY=first:$(symmetric)"
  echo "SESSION_KEYS=first:$(symmetric)"
  echo "SECRET_KEYS=first:$(symmetric)"
  echo "LINK_KEYS=first:$(symmetric)"
  echo "ERASURE_KEYS=first:$(symmetric)"
  cd "$(dirname "$0")/.."
  set -- $(ls -d services/*/src/main.ts | cut -d/ -f2)
fi

public=
for service; do
  private=$(openssl genpkey -algorithm ed25519 -outform DER | base64)
  own=$(echo "$private" | openssl base64 -A -d | openssl pkey -inform DER -pubout -outform DER | base64)
  public="${public:+$public,}$service:$own"
  echo "ASSERTION_KEY_$(echo "$service" | tr 'a-z-' 'A-Z_')=$service:$private"
done
echo "ASSERTION_PUBLIC_KEYS=$public"
