# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Cached parts. A part NAME is the directory $CACHE/NAME with
#	data/		what it is for (or, for a single file, data)
#	stamp		hash of the recipe that made it
#	manifest	what is in data, to notice damage
# It is made under another name and renamed when complete, so that an
# interruption leaves either the whole part or nothing of it.
#
# A recipe is two functions: recipe_NAME prints everything the result depends
# on, and make_NAME DIR fills DIR/data. Dashes in NAME become underscores.

part_function() { echo "$1_${2//-/_}"; }

part_recipe_hash() {
	{
		"$(part_function recipe "$1")"
		declare -f "$(part_function make "$1")"
	} | sha256_of
}

part_manifest() {
	(cd "$1" && find data -xdev \( -type f -printf '%p %s %T@\n' -o -printf '%p %y %l\n' \) | LC_ALL=C sort)
}

part_stamped() {
	[ -r "$CACHE/$1/stamp" ] && [ "$(cat "$CACHE/$1/stamp")" = "$(part_recipe_hash "$1")" ]
}

part_intact() { part_manifest "$CACHE/$1" | cmp -s - "$CACHE/$1/manifest"; }

# Guests and builds read the parts in place: a user of the cache holds its lock shared (until
# cache_released, or for good); to replace a part the lock is held exclusively.
cache_used() {
	exec {use_lock}>>"$CACHE/.use"
	flock -s "$use_lock"
}

cache_alone() {
	exec {use_lock}>>"$CACHE/.use"
	flock -n "$use_lock" || {
		say "waiting for guests and builds that use the cache"
		flock "$use_lock"
	}
}

cache_released() { exec {use_lock}>&-; }

# what apt says where there is no way to the mirror
unreachable='Could not resolve|Temporary failure resolving|Could not connect|Unable to connect|Cannot initiate the connection'

# why_not LOG: sets why to the reason and the remedy by what a command has said that fetches something and
# has failed, and status to the exit status that goes with them.
why_not() {
	status=$EX_LAB
	why=$(sed -n "s/^\(lab\|$LAB_NAME\): //p" "$1" | tail -n 1)
	[ -n "$why" ] || why=$(grep -m 1 '^E: ' "$1" || echo "see what it said")
	case $why in
	*"package mirror"*": remove "* | *"package mirror"*/etc/apt*) status=$EX_USAGE ;;
	*"package mirror"*) status=$EX_USAGE why+=": name another one in /etc/apt" ;;
	"E: Unable to locate package "*) status=$EX_USAGE why="Debian $GUEST_SUITE has no ${why##* }: name others" ;;
	esac
	# apt's words when an index is not the one that the signed release file names
	! grep -q 'Mirror sync in progress' "$1" || status=$EX_MIRROR
	! grep -qE "$unreachable" "$1" || {
		status=$EX_USAGE
		why="the package mirror of /etc/apt cannot be reached: connect this host to it, or name another"
	}
}

# Make part NAME unless it is there, complete and made by the present recipe.
part_ready() {
	local name=$1 started=$SECONDS work hash why status failed=''
	if part_stamped "$name"; then
		if part_intact "$name"; then
			say "$name: ready"
			return
		fi
		say "$name: damaged, making it again"
	fi
	space_check "$name"
	hash=$(part_recipe_hash "$name")
	work=$CACHE/.making-$name
	rm -rf --one-file-system "$work"
	mkdir -p "$work"
	say "$name: making it (log in $CACHE/$name.log)"
	progress_start "$name"
	isolated "$LAB" __make "$name" "$work" >"$CACHE/$name.log" 2>&1 || failed=1
	progress_stop
	if [ -n "$failed" ]; then
		rm -rf --one-file-system "$work"
		why_not "$CACHE/$name.log"
		die_with "$status" "$name: could not be made: $why (log: $CACHE/$name.log)"
	fi
	part_manifest "$work" >"$work/manifest"
	rm -f "$CACHE/$name.log"
	echo "$hash" >"$work/stamp"
	if [ -e "$CACHE/$name" ]; then
		cache_alone
		rm -rf --one-file-system "${CACHE:?}/$name"
		mv "$work" "$CACHE/$name"
		cache_released
	else
		mv "$work" "$CACHE/$name"
	fi
	progress_made "$name" $((SECONDS - started))
	say "$name: made in $((SECONDS - started)) s, $(du -sm "$CACHE/$name" | cut -f1) MB"
}

part_path() { echo "$CACHE/$1/data"; }
