package corpustest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A secretKind makes one secret with the words around it that identify it, and names
// the substrings that must not survive.
type secretKind struct {
	name string
	make func(r *rand.Rand) (text string, parts []string)
}

// A Sample is a secret with the words around it, and the substrings that must not
// survive.
type Sample struct {
	Kind, Text string
	Parts      []string
}

// Samples are one secret of each kind. The same seed gives the same bytes.
func Samples(seed uint64) (out []Sample) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, k := range secretKinds {
		text, parts := k.make(r)
		out = append(out, Sample{k.name, text, parts})
	}
	return out
}

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexa    = "0123456789abcdef"
	alnum   = lower + capital + digits
	dashed  = alnum + "_-"
	base64s = alnum + "+/"
	base32  = capital + "234567"
)

// draw is n random characters of an alphabet. The first is a letter if the alphabet has
// any, the second a digit, so that no value consists of one sort by chance.
func draw(r *rand.Rand, n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	for i, sort := range []string{"abcdefABCDEF", digits} {
		for n > 1 && strings.ContainsAny(alphabet, sort) && strings.IndexByte(sort, b[i]) < 0 {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
	}
	if strings.HasSuffix(alphabet, "-") { // a token that ends in a dash cannot be distinguished from a sentence
		b[n-1] = alphabet[r.IntN(len(alphabet)-2)]
	}
	return string(b)
}

// password is one as a person or a password manager makes it.
func password(r *rand.Rand) string {
	return draw(r, 10+r.IntN(8), alnum) + string("!#%*_"[r.IntN(5)]) + draw(r, 2, digits)
}

// phrases are sentences with a token that its form identifies.
var phrases = []string{
	"%s", "use %s for now", "`%s`", "export TOKEN=%s", "\"token\": \"%s\",", "the key (%s) is in the vault too",
	"curl -H 'X-Api-Key: %s' https://api.internal", "it prints:\n%s\nand stops", "key = '%s'", "My key is %s.", "log: \"auth\\n%s\"",
}

// marked is a token that its issuer marks with a prefix or a form of its own.
func marked(name string, value func(r *rand.Rand) string) secretKind {
	return secretKind{name, func(r *rand.Rand) (string, []string) {
		v := value(r)
		return fmt.Sprintf(phrases[r.IntN(len(phrases))], v), []string{v}
	}}
}

// prefixed is a token of a prefix and n random bytes.
func prefixed(name, prefix string, n int, alphabet string) secretKind {
	return marked(name, func(r *rand.Rand) string { return prefix + draw(r, n, alphabet) })
}

// told is a secret that only the words around it identify: one of forms, with one %s
// for the value.
func told(name string, value func(r *rand.Rand) string, forms ...string) secretKind {
	return secretKind{name, func(r *rand.Rand) (string, []string) {
		v := value(r)
		return fmt.Sprintf(forms[r.IntN(len(forms))], v), []string{v}
	}}
}

func of(n int, alphabet string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string { return draw(r, n, alphabet) }
}

// pem is a private key in n lines of base64, as a file or with its line feeds escaped
// as in JSON.
func pem(name, label string, n int) secretKind {
	return secretKind{name, func(r *rand.Rand) (string, []string) {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = draw(r, 64, base64s)
		}
		lines[n-1] = lines[n-1][:30] + "=="
		sep := []string{"\n", "\n", "\\n", "\n    "}[r.IntN(4)]
		text := "-----BEGIN " + label + "-----" + sep + strings.Join(lines, sep) + sep + "-----END " + label + "-----"
		return text, lines
	}}
}

func encoded(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// secretKinds are the forms that credentials have in transcripts. They are
// written down from the issuers' documentation, not from the detector that is
// measured with them.
var secretKinds = []secretKind{
	prefixed("aws-access-key", "AKIA", 16, base32),
	prefixed("github-classic", "ghp_", 36, alnum),
	prefixed("github-oauth", "gho_", 36, alnum),
	prefixed("github-app", "ghs_", 36, alnum),
	marked("github-fine-grained", func(r *rand.Rand) string { return "github_pat_" + draw(r, 22, alnum) + "_" + draw(r, 59, alnum) }),
	prefixed("gitlab", "glpat-", 20, dashed),
	prefixed("gitlab-runner", "GR1348941", 20, dashed),
	marked("slack-bot", func(r *rand.Rand) string {
		return "xoxb-" + draw(r, 12, digits) + "-" + draw(r, 12, digits) + "-" + draw(r, 24, alnum)
	}),
	marked("slack-app", func(r *rand.Rand) string {
		return "xapp-1-A" + draw(r, 10, capital+digits) + "-" + draw(r, 13, digits) + "-" + draw(r, 64, hexa)
	}),
	marked("slack-webhook", func(r *rand.Rand) string {
		return "https://hooks.slack.com/services/T" + draw(r, 8, capital+digits) + "/B" + draw(r, 10, capital+digits) + "/" + draw(r, 24, alnum)
	}),
	prefixed("stripe", "sk_live_", 24, alnum),
	prefixed("stripe-webhook", "whsec_", 32, alnum),
	marked("anthropic", func(r *rand.Rand) string { return "sk-ant-api03-" + draw(r, 93, dashed) + "AA" }),
	marked("openai", func(r *rand.Rand) string { return "sk-proj-" + draw(r, 74, dashed) + "T3BlbkFJ" + draw(r, 74, dashed) }),
	marked("openai-old", func(r *rand.Rand) string { return "sk-" + draw(r, 20, alnum) + "T3BlbkFJ" + draw(r, 20, alnum) }),
	prefixed("openrouter", "sk-or-v1-", 64, hexa),
	prefixed("google-api", "AIza", 35, dashed),
	prefixed("google-client", "GOCSPX-", 28, dashed),
	prefixed("npm", "npm_", 36, alnum),
	prefixed("pypi", "pypi-AgEIcHlwaS5vcmc", 150, dashed),
	prefixed("rubygems", "rubygems_", 48, hexa),
	prefixed("docker", "dckr_pat_", 27, dashed),
	prefixed("twilio", "SK", 32, hexa),
	marked("sendgrid", func(r *rand.Rand) string { return "SG." + draw(r, 22, dashed) + "." + draw(r, 43, dashed) }),
	prefixed("mailgun", "key-", 32, hexa),
	marked("mailchimp", func(r *rand.Rand) string { return draw(r, 32, hexa) + "-us" + fmt.Sprint(1+r.IntN(21)) }),
	marked("discord-bot", func(r *rand.Rand) string {
		id := base64.RawStdEncoding.EncodeToString([]byte("1" + draw(r, 17, digits)))
		return id + "." + draw(r, 6, alnum) + "." + draw(r, 38, dashed)
	}),
	marked("discord-webhook", func(r *rand.Rand) string {
		return "https://discord.com/api/webhooks/" + draw(r, 18, digits) + "/" + draw(r, 68, dashed)
	}),
	marked("telegram", func(r *rand.Rand) string { return draw(r, 10, digits) + ":AA" + draw(r, 33, dashed) }),
	prefixed("digitalocean", "dop_v1_", 64, hexa),
	prefixed("huggingface", "hf_", 34, alnum),
	prefixed("databricks", "dapi", 32, hexa),
	prefixed("shopify", "shpat_", 32, hexa),
	prefixed("square", "sq0atp-", 22, dashed),
	prefixed("linear", "lin_api_", 40, alnum),
	prefixed("notion", "ntn_", 46, alnum),
	marked("postman", func(r *rand.Rand) string { return "PMAK-" + draw(r, 24, hexa) + "-" + draw(r, 34, hexa) }),
	prefixed("age", "AGE-SECRET-KEY-1", 58, capital+digits),
	prefixed("vault", "hvs.", 90, dashed),
	prefixed("doppler", "dp.pt.", 43, alnum),
	marked("grafana", func(r *rand.Rand) string { return "glsa_" + draw(r, 32, alnum) + "_" + draw(r, 8, hexa) }),
	prefixed("newrelic", "NRAK-", 27, capital+digits),
	prefixed("pulumi", "pul-", 40, hexa),
	marked("terraform", func(r *rand.Rand) string { return draw(r, 14, alnum) + ".atlasv1." + draw(r, 67, dashed) }),
	prefixed("figma", "figd_", 40, dashed),
	prefixed("sentry", "sntryu_", 64, hexa),
	prefixed("groq", "gsk_", 52, alnum),
	prefixed("xai", "xai-", 80, alnum),
	prefixed("perplexity", "pplx-", 48, alnum),
	prefixed("replicate", "r8_", 37, alnum),
	prefixed("supabase", "sbp_", 40, hexa),
	prefixed("planetscale", "pscale_tkn_", 43, dashed),
	marked("tailscale", func(r *rand.Rand) string { return "tskey-auth-" + draw(r, 17, alnum) + "-" + draw(r, 32, alnum) }),
	marked("atlassian", func(r *rand.Rand) string {
		return "ATATT3xFfGF0" + draw(r, 171, dashed) + "=" + draw(r, 8, "0123456789ABCDEF")
	}),
	prefixed("bitbucket", "ATBB", 32, alnum),
	prefixed("sonarqube", "squ_", 40, hexa),
	marked("airtable", func(r *rand.Rand) string { return "pat" + draw(r, 14, alnum) + "." + draw(r, 64, hexa) }),
	marked("hubspot", func(r *rand.Rand) string { return "pat-na1-" + uuid(r) }),
	prefixed("buildkite", "bkua_", 40, hexa),
	prefixed("circleci", "CCIPAT_", 62, alnum),
	prefixed("netlify", "nfp_", 36, alnum),
	prefixed("artifactory", "AKCp", 69, alnum),
	marked("resend", func(r *rand.Rand) string { return "re_" + draw(r, 8, alnum) + "_" + draw(r, 24, alnum) }),
	marked("mapbox", func(r *rand.Rand) string {
		return "sk." + encoded(`{"u":"`+draw(r, 30, alnum)) + "." + draw(r, 22, dashed)
	}),
	marked("jwt", func(r *rand.Rand) string {
		return encoded(`{"alg":"HS256","typ":"JWT"}`) + "." + encoded(`{"sub":"`+draw(r, 12, digits)+`","iat":1790000000}`) + "." + draw(r, 43, dashed)
	}),

	told("aws-secret", of(40, base64s), "AWS_SECRET_ACCESS_KEY=%s", "aws_secret_access_key = %s", `"SecretAccessKey": "%s"`),
	told("azure-storage", func(r *rand.Rand) string { return draw(r, 86, base64s) + "==" },
		"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=%s;EndpointSuffix=core.windows.net", "AccountKey=%s"),
	told("azure-sas", func(r *rand.Rand) string { return draw(r, 43, alnum) + "%3D" }, "https://shop.blob.core.windows.net/x?sv=2024-01-01&sp=r&sig=%s"),
	told("azure-client", func(r *rand.Rand) string { return draw(r, 3, alnum) + "8Q~" + draw(r, 34, alnum) }, "AZURE_CLIENT_SECRET=%s", "the client secret is %s"),
	told("datadog", of(32, hexa), "DD_API_KEY=%s", "export DATADOG_API_KEY=\"%s\""),
	told("cloudflare", of(40, alnum), "CLOUDFLARE_API_TOKEN=%s", "CF_API_TOKEN: \"%s\""),
	told("heroku", uuid, "HEROKU_API_KEY=%s", "heroku_api_key: '%s'"),
	told("npmrc", uuid, "//npm.example.com/:_authToken=%s"),
	told("django", of(50, alnum), "SECRET_KEY = '%s'", "SECRET_KEY=\"%s\""),
	told("bearer", of(40, alnum), "Authorization: Bearer %s", "-H 'authorization: bearer %s'", `"Authorization": "Bearer %s"`),
	told("basic", func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString([]byte("admin:" + password(r))) },
		"Authorization: Basic %s", "--header \"Authorization: Basic %s\""),
	told("database-url", of(18, alnum), "DATABASE_URL=postgres://app:%s@db.internal:5432/shop", "mongodb+srv://root:%s@cluster0.x.mongodb.net/?w=majority",
		"redis://:%s@cache.internal:6379/0", "mysql://root:%s@10.0.0.7/shop", "amqp://guest2:%s@mq.internal:5672"),
	told("basic-auth-url", of(16, alnum), "git clone https://deploy:%s@git.internal/shop.git", "https://user:%s@api.internal/v1"),
	told("connection-string", password, "Server=tcp:db.internal,1433;Database=shop;User ID=sa;Password=%s;Encrypt=True;", "Data Source=db;User Id=app;Pwd=%s;"),
	told("password-env", password, "DB_PASSWORD=%s", "export PGPASSWORD='%s'", "SMTP_PASS=%s", "ADMIN_PASSWORD=\"%s\""),
	told("password-json", password, `{"user": "admin", "password": "%s"}`, `"db_password":"%s",`, `'passwd': '%s'`),
	told("password-yaml", password, "database:\n  user: app\n  password: %s\n", "redis_password: %s"),
	told("password-said", password, "the password is %s", "my password is \"%s\", please log in", "log in as admin with password %s", "Password: %s"),
	told("password-flag", password, "mysql -u root -p%s shop", "curl -u admin:%s https://api.internal", "sshpass -p %s ssh deploy@web1",
		"psql-tool --password %s", "docker login -u ci --password=%s registry.internal", "curl --user 'ci:%s' https://ci.internal"),
	told("netrc", password, "machine git.internal login deploy password %s", "machine api.internal\n  login ci\n  password %s"),
	told("cookie", of(32, alnum), "Cookie: sessionid=%s; theme=dark", "Set-Cookie: session=%s; Path=/; HttpOnly", "curl -b 'connect.sid=%s' https://shop.internal",
		"cookie: theme=dark; auth_token=%s", "Set-Cookie: JSESSIONID=%s; Secure"),
	pem("rsa-key", "RSA PRIVATE KEY", 25),
	pem("openssh-key", "OPENSSH PRIVATE KEY", 7),
	pem("ec-key", "EC PRIVATE KEY", 3),
	pem("pkcs8-key", "PRIVATE KEY", 26),
	pem("pgp-key", "PGP PRIVATE KEY BLOCK", 12),
	{"putty-key", func(r *rand.Rand) (string, []string) {
		a, b := draw(r, 64, base64s), draw(r, 64, base64s)
		return "Private-Lines: 2\n" + a + "\n" + b + "\nPrivate-MAC: " + draw(r, 64, hexa), []string{a, b}
	}},
}

func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}
