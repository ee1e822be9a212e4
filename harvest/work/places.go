package work

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/git"
)

// secretNames are patterns (path.Match) for the names, in lower case, of files that hold
// secrets, and of folders of such files.
var secretNames = []string{
	".env*", "*.env", "*.pem", "id_*", "*.tfvars", "*.tfvars.json", "*.tfstate*", "*.key", "kubeconfig*", "*.kubeconfig", "credentials*", "*credentials.json",
	".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg", ".s3cfg", ".boto", ".vault*",
	"*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.ppk", "*.asc", "*.gpg", "*.pgp", "*.age", "*.ovpn", "*.mobileprovision",
	"secrets.y*ml", "secrets.*.y*ml", "secrets.json", "secrets.toml", "secrets.env", "secrets.txt", "secrets.ini", "secrets.properties", "*.secret", "*.secrets",
	"client_secret*", "service-account*.json", "service_account*.json", "auth.json", "token.json", "local.settings.json",
	".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", "gcloud", ".git",
}

// secret reports whether a path is named like one of a secret.
func (p *places) secret(file string) bool {
	for part := range strings.SplitSeq(strings.ToLower(file), "/") {
		is, known := p.secrets[part]
		if !known {
			is = slices.ContainsFunc(secretNames, func(pattern string) bool { ok, _ := path.Match(pattern, part); return ok })
			p.secrets[part] = is
		}
		if is {
			return true
		}
	}
	return false
}

const (
	maxPath = 4 << 10 // bytes
	maxAsk  = time.Minute
)

// places tells which files of a session may be kept.
type places struct {
	root    string          // the session's folder, with slashes; "" if it is not known
	top     string          // of its repository; root if there is none
	ignored map[string]bool // by the path from root; nil: git cannot tell
	secrets map[string]bool // by the name of a file or folder, in lower case
	memory  []string        // folders of the agent's memory of the project
}

// see finds the repository of root if it is there, and asks it which of the files it
// ignores. If it cannot answer, it may ignore them all.
func see(root string, files []string) *places {
	p := &places{root: slashed(root), ignored: map[string]bool{}, secrets: map[string]bool{}}
	p.top = p.root
	if !path.IsAbs(p.root) || len(files) == 0 {
		return p
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxAsk)
	defer cancel()
	tree, err := git.FindWorkTree(ctx, root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p
	case errors.Is(err, git.ErrNone):
		tree = nil
	case err != nil:
		p.ignored = nil
		return p
	default:
		for range strings.FieldsFunc(tree.Prefix, func(r rune) bool { return r == '/' }) {
			p.top = path.Dir(p.top)
		}
		if real, err := filepath.EvalSymlinks(p.top); err != nil || real != tree.Top {
			p.top = p.root // a link leads into the repository
		}
	}
	inner, known := map[string][]string{}, map[string]string{} // files by the repository below top that they are in; see repository
	for _, file := range files {
		if name, ok := p.file(file); ok {
			dir := p.repository(path.Dir(path.Join(p.root, name)), known)
			inner[dir] = append(inner[dir], name)
		}
	}
	for dir, names := range inner {
		within := tree
		if dir != "" {
			if within, err = git.FindWorkTree(ctx, dir); err != nil {
				p.ignored = nil
				return p
			}
		}
		if within != nil && !p.ignores(ctx, within, dir, names) {
			p.ignored = nil
			return p
		}
	}
	return p
}

// repository is the repository below top that a folder is in, "" if it is in none. known
// has those of the folders above.
func (p *places) repository(dir string, known map[string]string) string {
	if !below(dir, p.top) || dir == "/" {
		return ""
	}
	in, ok := known[dir]
	if !ok {
		if _, err := os.Lstat(path.Join(dir, ".git")); err == nil {
			in = dir
		} else {
			in = p.repository(path.Dir(dir), known)
		}
		known[dir] = in
	}
	return in
}

// ignores asks a repository, which is in dir, or else that of root, which of the files it
// ignores. It reports whether there was an answer.
func (p *places) ignores(ctx context.Context, tree *git.WorkTree, dir string, names []string) bool {
	var ask []string // from the top
	for _, name := range names {
		if dir != "" {
			name = relative(dir, path.Join(p.root, name))
		}
		ask = append(ask, path.Join(tree.Prefix, name))
	}
	ignored, err := tree.Ignored(ctx, ask)
	for i, name := range names {
		p.ignored[name] = ignored[ask[i]]
	}
	return err == nil
}

// file is a file's path from the session's folder. ok is false if the file must not be
// kept: it is outside the repository, or ignored, or named like a secret.
func (p *places) file(name string) (rel string, ok bool) {
	if name = slashed(name); !named(name) || strings.HasPrefix(name, "~") {
		return "", false
	}
	if absolute(name) {
		if p.root == "" {
			return "", false
		}
		if name = path.Clean(name); !below(name, p.top) {
			return "", false
		}
		rel = relative(p.root, name)
	} else {
		rel = path.Clean(name)
		if strings.HasPrefix(rel, "../") && !below(path.Join(p.root, rel), p.top) {
			return "", false
		}
	}
	if rel == "." || rel == ".." || p.secret(rel) || p.ignored == nil || p.ignored[rel] {
		return "", false
	}
	return rel, true
}

// remembered is the name of a file in the agent's memory of the project, behind Memory.
func (p *places) remembered(name string) (file string, ok bool) {
	if name = slashed(name); !named(name) || !absolute(name) {
		return "", false
	}
	dir, base := path.Split(path.Clean(name))
	ok = strings.HasSuffix(base, ".md") && !p.secret(base) && slices.ContainsFunc(p.memory, func(m string) bool { return path.Clean(slashed(m)) == path.Clean(dir) })
	return Memory + base, ok
}

// named reports whether name can be that of a file.
func named(name string) bool {
	return name != "" && len(name) <= maxPath && utf8.ValidString(name) && !strings.ContainsAny(name, "\x00\n\r")
}

// within is a folder as the files in it are called, absolute if that is known.
func (p *places) within(dir string) string {
	if dir = slashed(dir); absolute(dir) || p.root == "" {
		return dir
	}
	return path.Join(p.root, dir)
}

// slashed is a path with slashes, as Windows has it too.
func slashed(name string) string {
	if len(name) > 2 && name[1] == ':' || strings.HasPrefix(name, `\\`) || !strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

func absolute(name string) bool { return path.IsAbs(name) || len(name) > 2 && name[1] == ':' }

// below reports whether a clean path is in a folder; dir "" has nothing in it.
func below(name, dir string) bool {
	return dir != "" && (dir == "/" || strings.HasPrefix(name, strings.TrimSuffix(path.Clean(dir), "/")+"/"))
}

// relative is a clean path from a folder, both absolute.
func relative(from, name string) string {
	up := ""
	for from = path.Clean(from); !below(name, from); from = path.Dir(from) {
		if from == path.Dir(from) {
			return name
		}
		up += "../"
	}
	return up + strings.TrimPrefix(strings.TrimPrefix(name, from), "/")
}
