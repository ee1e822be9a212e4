# Lists what is to be replayed: of $PULL, or at night of the open pull requests with the label
# evolve. Forks get the free checks only.
set -euo pipefail
most=5
list=$(mktemp)
trap 'rm -f "$list"' EXIT
if [ -n "$PULL" ]; then
	may=$(gh api "repos/$REPO/collaborators/$COMMENTER/permission" --jq .permission)
	case $may in
	admin | write) ;;
	*) echo 'only who may write to this repository can ask for replays'; exit 1 ;;
	esac
	pulls=$PULL
else
	pulls=$(gh api "repos/$REPO/issues?labels=evolve&state=open&per_page=50" --jq '.[] | select(.pull_request) | .number')
fi
for pull in $pulls; do
	at=$(gh api "repos/$REPO/pulls/$pull" --jq '{pr: .number, head: .head.sha, base: .base.sha, own: (.head.repo.full_name == .base.repo.full_name)}')
	if [ "$(jq .own <<<"$at")" != true ]; then
		echo "pull request $pull comes from a fork: it gets the free checks only"
		[ -z "$PULL" ] || exit 1
		continue
	fi
	gh api --paginate "repos/$REPO/pulls/$pull/files?per_page=100" --jq '.[] | select(.status == "modified") | .filename' |
		jq -Rc --argjson at "$at" 'select(test("^([A-Za-z0-9._-]+/)+SKILL[.]md$") and (split("/") | any(. == "..") | not)) | $at + {path: .} | del(.own)' >>"$list"
done
[ "$(wc -l <"$list")" -le "$most" ] || { echo "more than $most skills are changed: ask for fewer at a time"; exit 1; }
echo "items=$(jq -sc . "$list")" >>"$GITHUB_OUTPUT"
