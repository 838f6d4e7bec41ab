# What the scripts of both kinds of tiers begin with: names are not expanded to
# files, and the script goes to $PARENT, which must lie on the volume at $MOUNT.
set -uf

# say WHAT NAME: one line for each name, control characters as "?".
say() {
  shown="$2"
  case "$shown" in
    *[[:cntrl:]]*) shown="$(printf %s "$2" | tr '\001-\037\177' '?')" ;;
  esac
  printf '%s: %s\n' "$1" "$shown"
}

if [ ! -d "$PARENT" ]; then
  say "nothing to do: no such directory" "$PARENT"
  exit 0
fi
{ cd -P "$MOUNT" && root="$PWD" && cd -P "$PARENT" && [ -r . ]; } 2>/dev/null || {
  say "failed: cannot be read" "$PARENT"
  exit 1
}
case "$PWD/" in
  "$root"/*) ;;
  *) say "nothing to do: a link leads out of the volume" "$PARENT"; exit 0 ;;
esac
