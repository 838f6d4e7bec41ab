# Removes pages of a cache tier whose versions lie together under $PARENT: those
# that were written $KEEP_FOR_MINUTES ago or earlier, and as many more of the
# oldest as lie above $MOST_KIB (0: no such bound). $PAGE and $PARTIAL are
# patterns of paths, $DEPTH levels below $PARENT; $PARTIAL are pages that are not
# whole. A page that was written within the last ten minutes stays, for it may
# still be written, and so does a page that is not whole for $KEEP_FOR_MINUTES,
# and whatever is no page. $RESERVED is a list of names directly under $PARENT,
# with a slash before, between and behind them, that nothing is removed from.
# No list of files is held: ages are counted, then find removes by age.
# kubelet and Flux read this text too: it uses only forms they leave alone.
youngest=10

here="$(stat -c %d .)"

# each COMMAND: runs it for every directory that may hold pages, in $in. find's
# -xdev does not leave the file system of a path it is given: that one is tested.
each() {
  if [ "$DEPTH" -eq 1 ]; then
    in=.
    "$@"
    return
  fi
  set +f
  for entry in */ .[!.]*/ ..?*/; do
    set -f
    IFS=/
    # shellcheck disable=SC2086 # the name before the slash
    set_name $entry
    unset IFS
    in="./$name"
    if [ -L "$in" ] || [ ! -d "$in" ]; then continue; fi
    case "$RESERVED" in *"/$name/"*) continue ;; esac
    [ "$(stat -c %d "$in" 2>/dev/null)" = "$here" ] || continue
    "$@"
  done
  set -f
}
set_name() { name="$1"; }

# at PATTERN TEST...: find among the files of that pattern in $in.
at() {
  pattern="$1"
  shift
  below="$DEPTH"
  [ "$in" = . ] || below=$((DEPTH - 1))
  find "$in" -xdev -mindepth "$below" -maxdepth "$below" -type f -path "./$pattern" "$@"
}

ages() { at "$1" -exec stat -c '%Y %b' {} + 2>/dev/null; }

# count PATTERN: how many pages there are, their KiB on disk, and the age in minutes from
# which pages go; what is unwritten for longest goes first. Some five hundred
# classes of age tell that age, however many pages there are.
count() {
  each ages "$1" | awk -v now="$(date +%s)" -v keep="$KEEP_FOR_MINUTES" -v most="$MOST_KIB" -v youngest="$youngest" '
    BEGIN { width = int(keep / 500) + 1; last = int(keep / width) + 1 }
    {
      age = (now - $1) / 60
      class = age >= keep ? last : age < 0 ? 0 : int(age / width)
      kib[class] += $2 / 2; pages++; all += $2 / 2
    }
    END {
      limit = keep
      for (class = 0; most > 0 && class < last; class++) {
        sum += kib[class]
        if (sum > most) { limit = class * width; break }
      }
      if (limit < youngest) limit = youngest
      printf "%.0f %.0f %.0f\n", pages, all, limit
    }'
}

old() { at "$PAGE" ! -mmin "-$limit" -exec rm -f -- {} +; }
abandoned() { at "$PARTIAL" ! -mmin "-$KEEP_FOR_MINUTES" -exec rm -f -- {} +; }
# empty: directories of pages that hold none and did not change either.
empty() { find "$in" -xdev -mindepth $((DEPTH - 2)) -maxdepth $((DEPTH - 2)) -type d -path "./$folder" ! -mmin "-$KEEP_FOR_MINUTES" -exec rmdir -- {} + 2>/dev/null; }

# Entries that are no pages and hold none: 20 by name, the rest as a count.
strange="$PAGE"
[ "$DEPTH" -eq 1 ] || strange="$(echo "$PAGE" | cut -d / -f 1)"
find . -mindepth 1 -maxdepth 1 ! -path "./$strange" ! -path "./$PARTIAL" -print0 2>/dev/null |
  tr '\001-\037\177' '?' | tr '\000' '\n' |
  awk 'NR <= 20 { print "kept: not a page: " substr($0, 3) }
    END { if (NR > 20) print "kept: " NR - 20 " more" }' | sort

before="$(count "$PAGE")"
pages="$(echo "$before" | cut -d ' ' -f 1)"
limit="$(echo "$before" | cut -d ' ' -f 3)"
# What a writer renames meanwhile is gone, and that is no failure.
why="$(each old 2>&1 >/dev/null | grep -v ': No such file or directory$' | head -n 1)"
[ -z "$PARTIAL" ] || each abandoned >/dev/null 2>&1
if [ "$DEPTH" -gt 2 ]; then
  folder="$(echo "$PAGE" | sed 's,/[^/]*$,,')"
  each empty
fi
after="$(count "$PAGE")"
stay="$(echo "$after" | cut -d ' ' -f 1)"
kib="$(echo "$after" | cut -d ' ' -f 2)"
failed=0
if [ -n "$why" ]; then
  say "failed: could not be removed" "$why"
  failed=1
fi
if [ "$MOST_KIB" -gt 0 ] && [ "$kib" -gt "$MOST_KIB" ]; then
  say "failed: more than it may hold" "$kib KiB of $MOST_KIB KiB were written within $youngest minutes"
  failed=1
fi
gone=$((pages > stay ? pages - stay : 0))
echo "done: $gone pages written $limit minutes ago or earlier removed, $stay kept, $kib KiB"
[ "$failed" -eq 0 ]
