package replay

import (
	"path"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

var (
	// computes is what lets a line of code reach a path that it does not name,
	// or more than its own process.
	computes = lazyregexp.New(`environ|getenv|process\.env|\bENV\b|expanduser|Path\.home|homedir|[bB]ase64|\bb64|fromhex|fromCharCode|\bchr\(|bytes\(|` +
		`\bexec\w*\(|\beval\(|subprocess|os\.system|popen|child_process|spawn|\bsystem\(|\bqx\b|` + "`" + `[^` + "`" + `]*\$\{|` +
		`socket|urllib|requests\.|httpx|http\.client|\bfetch\(|https?\.get|net/http|Net::HTTP|` +
		`importlib|__import__|runpy|ctypes|argv|\binput\(|readlink|` +
		`(walk|listdir|scandir|iterdir|rglob|readdirSync|readdir|glob)\(\s*[^'")\s]|\bchdir\(\s*[^'"]|\[::-1\]|reverse\(\)`)
	// opens is a file that is opened by something else than its literal name.
	opens = lazyregexp.New(`\b(open|readFileSync|readFile|createReadStream|read_csv|File\.read|Path|np\.load\w*)\(\s*[^'"\s)]`)
	// imports is code of the project.
	imports = lazyregexp.New(`(?m)require\(\s*['"]\.|from\s+['"]\.|import\s+['"]\.|^\s*from\s+\.`)
	strs    = lazyregexp.New(`'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"`)
)

// code judges a program in Python, JavaScript, Ruby or Perl by its literals. It
// is clean only where it names all that it opens.
func (b *bounds) code(text, cwd string) finding {
	out := b.named(text)
	for _, m := range strs.FindAllStringSubmatch(text, -1) {
		s := m[1] + m[2]
		s, _, _ = strings.Cut(s, "{") // of a formatted string
		switch {
		case strings.Contains(s, "://") || strings.ContainsAny(s, " \\<>()|^$"):
		case s == "..":
			out = out.or(unclear("ran code that computes a path"))
		case strings.HasPrefix(s, "~"):
			out = out.or(unclear("ran code that looks for a home"))
		case strings.HasPrefix(s, "/") && len(s) > 1:
			f := b.read(s, false)
			if f.verdict == tainted("").verdict && !someones(s) {
				f = unclear("ran code that names %.60s", s)
			}
			out = out.or(f)
		case strings.HasPrefix(s, "../") || strings.Contains(s, "/../"):
			out = out.or(b.read(path.Join(cwd, s), false))
		}
	}
	switch {
	case computes.MatchString(text):
		out = out.or(unclear("ran code that reaches for %.40q", computes.FindString(text)))
	case opens.MatchString(text):
		out = out.or(unclear("ran code that opens a computed path"))
	case imports.MatchString(text):
		out = out.or(unclear("ran code of the project, which the trace does not show"))
	}
	return out
}
