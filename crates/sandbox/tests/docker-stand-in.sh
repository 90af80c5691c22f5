#!/bin/sh
# Stands in for Docker's client where no engine runs: writes down what it is asked, and holds the program with
# bubblewrap. It shows that workers are supervised as they should be. It shows nothing about Docker.
here=$(dirname "$0")
printf '%s\n' "$*" >>"$here/asked"
ignores() { grep -qx -- "$1" "$here/ignored" 2>/dev/null; }
case $1 in
ps) cat "$here/left" 2>/dev/null; exit 0 ;;
kill) kill -9 "$(cat "$here/$2")"; exit ;;
run) shift ;;
*) exit 0 ;;
esac

binds=
while :; do
  case $1 in
  -v) inside=${2#*:}; binds="$binds --ro-bind ${2%%:*} ${inside%:ro}"; shift 2 ;;
  --env) binds="$binds --setenv ${2%%=*} ${2#*=}"; shift 2 ;;
  --name) name=$2; shift 2 ;;
  --rm | -i | --read-only | --init | --no-healthcheck) shift ;;
  -*) shift 2 ;;
  *) image=$1; shift; break ;;
  esac
done
echo $$ >"$here/$name"
share=; ignores --network && share=--share-net
root='--remount-ro /'; ignores --read-only && root=
tmp=noexec,nosuid,size=64m; ignores --tmpfs && tmp=size=1g
exec unshare --mount sh -c '
  mount -t tmpfs -o mode=1777,'"$tmp"' tmpfs /mnt
  here=$1; shift
  exec bwrap --unshare-all '"$share"' --uid 65534 --gid 65534 --cap-drop ALL --die-with-parent --clearenv \
    --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev \
    --bind /mnt /tmp --ro-bind "$here/program" /program '"$binds $root"' -- /program "$@"
' sh "$here" "$@"
