package redact

// class is a set of bytes that a token may be made of.
type class [256]bool

func bytesOf(s string) *class {
	var c class
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' {
			for b := int(s[i]); b <= int(s[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[s[i]] = true
	}
	return &c
}

var (
	upper     = bytesOf("A-Z0-9")
	alnum     = bytesOf("A-Za-z0-9")
	letter    = bytesOf("A-Za-z")
	word      = bytesOf("A-Za-z0-9_")
	dashed    = bytesOf("A-Za-z0-9_-") // the URL-safe base64 alphabet
	hex       = bytesOf("0-9a-f")
	dotted    = bytesOf("A-Za-z0-9_.-")
	base64ish = bytesOf("A-Za-z0-9+/=")
)

// token is a secret that its issuer marks with a prefix.
type token struct {
	kind   string
	prefix string
	body   *class
	min    int // bytes after the prefix
	max    int // 0: no limit; a longer run is no token of this kind
}

// tokens are taken from the issuers' own documentation of their formats; the
// lengths are lower bounds, so that a format that grew is still found.
var tokens = []token{
	{"aws-access-key", "AKIA", upper, 16, 16},
	{"aws-access-key", "ASIA", upper, 16, 16},
	{"aws-access-key", "ABIA", upper, 16, 16},
	{"aws-access-key", "ACCA", upper, 16, 16},
	{"github-token", "ghp_", alnum, 30, 0},
	{"github-token", "gho_", alnum, 30, 0},
	{"github-token", "ghu_", alnum, 30, 0},
	{"github-token", "ghs_", alnum, 30, 0},
	{"github-token", "ghr_", alnum, 30, 0},
	{"github-token", "github_pat_", word, 22, 0},
	{"gitlab-token", "glpat-", dashed, 18, 0},
	{"gitlab-token", "gldt-", dashed, 18, 0},
	{"gitlab-token", "glrt-", dashed, 18, 0},
	{"gitlab-token", "glcbt-", dashed, 18, 0},
	{"gitlab-token", "glptt-", dashed, 18, 0},
	{"gitlab-token", "glft-", dashed, 18, 0},
	{"gitlab-token", "glsoat-", dashed, 18, 0},
	{"gitlab-token", "glagent-", dashed, 18, 0},
	{"gitlab-token", "GR1348941", dashed, 18, 0},
	{"slack-token", "xoxb-", dashed, 16, 0},
	{"slack-token", "xoxa-", dashed, 16, 0},
	{"slack-token", "xoxp-", dashed, 16, 0},
	{"slack-token", "xoxr-", dashed, 16, 0},
	{"slack-token", "xoxs-", dashed, 16, 0},
	{"slack-token", "xoxc-", dashed, 16, 0},
	{"slack-token", "xoxd-", bytesOf("A-Za-z0-9%+/=_-"), 16, 0},
	{"slack-token", "xoxe-", dashed, 16, 0},
	{"slack-token", "xoxe.", dotted, 16, 0},
	{"slack-token", "xapp-", dashed, 16, 0},
	{"slack-webhook", "hooks.slack.com/services/", bytesOf("A-Za-z0-9/_-"), 30, 0},
	{"slack-webhook", "hooks.slack.com/workflows/", bytesOf("A-Za-z0-9/_-"), 30, 0},
	{"stripe-key", "sk_live_", alnum, 16, 0},
	{"stripe-key", "sk_test_", alnum, 16, 0},
	{"stripe-key", "rk_live_", alnum, 16, 0},
	{"stripe-key", "rk_test_", alnum, 16, 0},
	{"stripe-key", "whsec_", base64ish, 24, 0},
	{"anthropic-key", "sk-ant-", dashed, 20, 0},
	{"openrouter-key", "sk-or-", dashed, 32, 0},
	{"openai-key", "sk-proj-", dashed, 20, 0},
	{"openai-key", "sk-svcacct-", dashed, 20, 0},
	{"openai-key", "sk-admin-", dashed, 20, 0},
	{"openai-key", "sk-None-", dashed, 20, 0},
	{"openai-key", "sk-", alnum, 32, 0},
	{"google-api-key", "AIza", dashed, 35, 0},
	{"google-oauth", "ya29.", dotted, 20, 0},
	{"google-oauth", "GOCSPX-", dashed, 24, 0},
	{"npm-token", "npm_", alnum, 36, 0},
	{"pypi-token", "pypi-", dashed, 50, 0},
	{"rubygems-token", "rubygems_", hex, 40, 0},
	{"cargo-token", "cio", alnum, 32, 32},
	{"docker-token", "dckr_pat_", dashed, 20, 0},
	{"docker-token", "dckr_oat_", dashed, 20, 0},
	{"twilio-key", "SK", hex, 32, 32},
	{"twilio-key", "AC", hex, 32, 32},
	{"sendgrid-key", "SG.", dotted, 40, 0},
	{"mailgun-key", "key-", hex, 32, 32},
	{"brevo-key", "xkeysib-", dashed, 40, 0},
	{"discord-webhook", "discord.com/api/webhooks/", bytesOf("A-Za-z0-9/_-"), 40, 0},
	{"discord-webhook", "discordapp.com/api/webhooks/", bytesOf("A-Za-z0-9/_-"), 40, 0},
	{"digitalocean-token", "dop_v1_", hex, 40, 0},
	{"digitalocean-token", "doo_v1_", hex, 40, 0},
	{"digitalocean-token", "dor_v1_", hex, 40, 0},
	{"huggingface-token", "hf_", alnum, 30, 0},
	{"huggingface-token", "api_org_", letter, 30, 0},
	{"databricks-token", "dapi", hex, 32, 0},
	{"cloudflare-token", "v1.0-", bytesOf("0-9a-f-"), 120, 0},
	{"heroku-key", "HRKU-", dashed, 30, 0},
	{"shopify-token", "shpat_", alnum, 28, 0},
	{"shopify-token", "shpca_", alnum, 28, 0},
	{"shopify-token", "shppa_", alnum, 28, 0},
	{"shopify-token", "shpss_", alnum, 28, 0},
	{"square-token", "sq0atp-", dashed, 20, 0},
	{"square-token", "sq0csp-", dashed, 20, 0},
	{"square-token", "EAAA", dashed, 60, 60},
	{"linear-key", "lin_api_", alnum, 32, 0},
	{"linear-key", "lin_oauth_", alnum, 32, 0},
	{"notion-token", "secret_", alnum, 43, 0},
	{"notion-token", "ntn_", alnum, 40, 0},
	{"postman-key", "PMAK-", bytesOf("0-9a-f-"), 50, 0},
	{"age-secret-key", "AGE-SECRET-KEY-1", upper, 40, 0},
	{"vault-token", "hvs.", dashed, 24, 0},
	{"vault-token", "hvb.", dashed, 24, 0},
	{"doppler-token", "dp.pt.", alnum, 40, 0},
	{"doppler-token", "dp.st.", dotted, 40, 0},
	{"grafana-token", "glsa_", word, 32, 0},
	{"grafana-token", "glc_", base64ish, 32, 0},
	{"newrelic-key", "NRAK-", upper, 27, 0},
	{"pulumi-token", "pul-", hex, 40, 40},
	{"terraform-token", "atlasv1.", bytesOf("A-Za-z0-9_=-"), 60, 0},
	{"figma-token", "figd_", dashed, 30, 0},
	{"sentry-token", "sntrys_", bytesOf("A-Za-z0-9+/=_-"), 40, 0},
	{"sentry-token", "sntryu_", hex, 40, 0},
	{"groq-key", "gsk_", alnum, 40, 0},
	{"xai-key", "xai-", alnum, 60, 0},
	{"perplexity-key", "pplx-", alnum, 40, 0},
	{"replicate-token", "r8_", alnum, 37, 0},
	{"supabase-token", "sbp_", hex, 40, 0},
	{"planetscale-token", "pscale_tkn_", dotted, 32, 0},
	{"planetscale-token", "pscale_pw_", dotted, 32, 0},
	{"onepassword-token", "ops_eyJ", base64ish, 100, 0},
	{"tailscale-key", "tskey-", dashed, 20, 0},
	{"atlassian-token", "ATATT3", bytesOf("A-Za-z0-9_=-"), 60, 0},
	{"bitbucket-token", "ATBB", alnum, 28, 0},
	{"sourcegraph-token", "sgp_", word, 40, 0},
	{"contentful-token", "CFPAT-", dashed, 40, 0},
	{"easypost-key", "EZAK", alnum, 54, 0},
	{"clojars-token", "CLOJARS_", alnum, 58, 60},
	{"adafruit-key", "aio_", alnum, 28, 28},
	{"prefect-key", "pnu_", alnum, 36, 0},
	{"sonarqube-token", "squ_", hex, 40, 0},
	{"sonarqube-token", "sqp_", hex, 40, 0},
	{"sonarqube-token", "sqa_", hex, 40, 0},
	{"hubspot-token", "pat-na1-", bytesOf("0-9a-f-"), 36, 0},
	{"hubspot-token", "pat-eu1-", bytesOf("0-9a-f-"), 36, 0},
	{"buildkite-token", "bkua_", hex, 40, 0},
	{"circleci-token", "CCIPAT_", word, 40, 0},
	{"netlify-token", "nfp_", alnum, 36, 0},
	{"artifactory-key", "AKCp", alnum, 60, 0},
	{"mapbox-token", "sk.eyJ", dotted, 50, 0},
	{"nvidia-key", "nvapi-", dashed, 40, 0},
	{"pinecone-key", "pcsk_", word, 30, 0},
	{"langsmith-key", "lsv2_pt_", word, 32, 0},
	{"langsmith-key", "lsv2_sk_", word, 32, 0},
	{"elevenlabs-key", "sk_", hex, 40, 0},
	{"google-refresh-token", "1//0", dashed, 40, 0},
	{"dropbox-token", "sl.", dotted, 60, 0},
	{"facebook-token", "EAA", alnum, 80, 0},
	{"twitch-token", "oauth:", alnum, 28, 40},
	{"plaid-token", "access-production-", bytesOf("0-9a-f-"), 36, 36},
	{"plaid-token", "access-development-", bytesOf("0-9a-f-"), 36, 36},
	{"plaid-token", "access-sandbox-", bytesOf("0-9a-f-"), 36, 36},
	{"wallet-key", "xprv", alnum, 80, 0},
	{"wallet-key", "yprv", alnum, 80, 0},
	{"wallet-key", "zprv", alnum, 80, 0},
	{"wallet-key", "tprv", alnum, 80, 0},
	{"klaviyo-key", "pk_", hex, 30, 40},
	{"flyio-token", "FlyV1 fm", bytesOf("A-Za-z0-9+/=,_-"), 60, 0},
}

func tokenRules() []rule {
	rules := make([]rule, 0, len(tokens))
	for _, t := range tokens {
		r := rule{kind: t.kind, word: t.prefix, exact: true, match: t.match}
		if len(t.prefix) < 3 { // SK and AC: every hexadecimal digit may follow
			for _, digit := range "0123456789abcdef" {
				r.word = t.prefix + string(digit)
				rules = append(rules, r)
			}
			continue
		}
		rules = append(rules, r)
	}
	return rules
}

func (t token) match(s string, at int) (int, int, bool) {
	if !boundary(s, at) {
		return 0, 0, false
	}
	from := at + len(t.prefix)
	limit := len(s)
	if t.max > 0 {
		limit = min(limit, from+t.max+1)
	}
	end := run(s[:limit], from, t.body)
	for end > from && (s[end-1] == '.' || s[end-1] == '-' && t.body != dashed) { // a full stop is the sentence's
		end--
	}
	n := end - from
	if n < t.min || t.max > 0 && n > t.max || t.max > 0 && end < len(s) && word[s[end]] || monotone(s[from:end]) {
		return 0, 0, false
	}
	if t.prefix == "sk-" && !mixed(s[from:end]) {
		return 0, 0, false
	}
	return at, end, true
}

// run returns the end of the bytes of c that begin at s[at].
func run(s string, at int, c *class) int {
	for at < len(s) && c[s[at]] {
		at++
	}
	return at
}

// boundary reports whether a token may begin at s[at]: not inside a word,
// unless the letter before it is that of an escape (\n, \t) that the text holds
// literally.
func boundary(s string, at int) bool {
	if at == 0 || !alnum[s[at-1]] {
		return true
	}
	return at >= 2 && s[at-2] == '\\' && (s[at-1] == 'n' || s[at-1] == 't' || s[at-1] == 'r')
}

// monotone reports whether s is filler: at most two different bytes, as in
// ghp_xxxxxxxx.
func monotone(s string) bool {
	var seen [256]bool
	different := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			if different++; different > 2 {
				return false
			}
		}
	}
	return true
}

// mixed reports whether s holds both a letter and a digit.
func mixed(s string) bool {
	var digits, letters bool
	for i := range len(s) {
		digits = digits || s[i] >= '0' && s[i] <= '9'
		letters = letters || letter[s[i]]
	}
	return digits && letters
}
