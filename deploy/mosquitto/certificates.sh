#!/usr/bin/env bash
# A small certificate authority for the brokers, tables and readers of one floor, with openssl alone.
#
#   certificates.sh DIRECTORY authority            the authority itself, and an empty revocation list (once)
#   certificates.sh DIRECTORY broker NAME...       a broker's certificate: its host names and addresses, the first names the files
#   certificates.sh DIRECTORY client NAME          a table's (its id, such as TS-07) or a reader's (such as floor)
#   certificates.sh DIRECTORY revoke NAME          every certificate of this name, older ones too, counts no longer: copy crl.pem to
#                                                  the broker and restart it; after that `client NAME` makes one that counts
#   certificates.sh DIRECTORY list                 the revocation list anew, as it is, for ten more years
#
# `client` and `broker` again with the same name renew: a new key and a new certificate, in files that replace the old ones.
# Clients' certificates are valid for a year, or for DAYS=n days, or from FROM to TO (as 20260131120000Z); so is the list.
#
# Keep ca.key off the floor: whoever has it can be any table. A broker gets ca.pem, crl.pem and its own pair; a table gets ca.pem and
# its own pair, readable for its service only (or the key as a systemd credential).
set -euo pipefail
umask 077

usage() {
  sed -n '2,/^[^#]/{/^#/p}' "$0" >&2
  exit 2
}

[ $# -ge 2 ] || usage
mkdir -p "$1"
cd "$1"
what=$2
shift 2

settings() {
  cat <<'END'
[ca]
default_ca = floor
[floor]
database = index.txt
serial = serial
crlnumber = crlnumber
new_certs_dir = issued
certificate = ca.pem
private_key = ca.key
default_md = sha256
unique_subject = no
policy = name
[name]
commonName = supplied
[client]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
[broker]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = ${ENV::NAMES}
END
}

key_and() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc "$@" 2>/dev/null
}

# NAME KIND: signs NAME.csr. Valid from yesterday, for clocks that lag behind.
issue() {
  local from=${FROM:-$(date -u -d yesterday +%Y%m%d%H%M%SZ)}
  local to=${TO:-$(date -u -d "+${DAYS:-365} days" +%Y%m%d%H%M%SZ)}
  openssl ca -batch -notext -config ca.cnf -extensions "$2" -startdate "$from" -enddate "$to" \
    -in "$1.csr" -out "$1.new.pem" 2>/dev/null
  mv "$1.new.key" "$1.key"
  chmod 644 "$1.new.pem"
  mv "$1.new.pem" "$1.pem"
  rm "$1.csr"
}

# A broker takes nobody any longer when its list is out of date, or not valid yet by its clock.
revocations() {
  local from=${FROM:-$(date -u -d yesterday +%Y%m%d%H%M%SZ)}
  local to=${TO:-$(date -u -d '+3650 days' +%Y%m%d%H%M%SZ)}
  openssl ca -gencrl -config ca.cnf -crl_lastupdate "$from" -crl_nextupdate "$to" -out crl.pem 2>/dev/null
  chmod 644 ca.pem crl.pem
}

export NAMES=""
case "$what" in
  authority)
    [ ! -e ca.key ] || { echo "there is an authority in this directory already" >&2; exit 1; }
    mkdir -p issued
    : >index.txt
    echo 01 >serial
    echo 01 >crlnumber
    settings >ca.cnf
    key_and -x509 -keyout ca.key -out ca.pem -days 3650 -subj "/CN=${AUTHORITY:-tablegate floor authority}"
    revocations
    ;;
  broker)
    [ $# -ge 1 ] || usage
    name=$1
    for host; do
      case "$host" in
        *:* | [0-9]*.[0-9]*.[0-9]*.[0-9]*) NAMES="$NAMES${NAMES:+,}IP:$host" ;;
        *) NAMES="$NAMES${NAMES:+,}DNS:$host" ;;
      esac
    done
    key_and -keyout "$name.new.key" -out "$name.csr" -subj "/CN=$name"
    issue "$name" broker
    ;;
  client)
    [ $# -eq 1 ] || usage
    # The access list puts the name into topics.
    [[ $1 =~ ^[A-Za-z0-9_-]{1,32}$ ]] || { echo "a name has 1 to 32 letters, digits, _ and -" >&2; exit 2; }
    key_and -keyout "$1.new.key" -out "$1.csr" -subj "/CN=$1"
    issue "$1" client
    ;;
  revoke)
    [ $# -eq 1 ] || usage
    # Of each the database has, between tabs: V while it counts, its end, nothing, its number, its file, its subject.
    numbers=$(awk -F '\t' -v subject="/CN=$1" '$1 == "V" && $6 == subject { print $4 }' index.txt)
    [ -n "$numbers" ] || { echo "no certificate of the name $1 counts here" >&2; exit 1; }
    for number in $numbers; do
      openssl ca -config ca.cnf -revoke "issued/$number.pem" 2>/dev/null
    done
    revocations
    ;;
  list) revocations ;;
  *) usage ;;
esac
