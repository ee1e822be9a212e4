package corpustest

import "math/rand/v2"

// harmlessKinds are texts that look like secrets and are none: replacing them makes a
// session unreadable.
var harmlessKinds = []struct {
	name string
	make func(r *rand.Rand) string
}{
	{"commit", func(r *rand.Rand) string { return "git revert " + draw(r, 40, hexa) }},
	{"short-commit", func(r *rand.Rand) string {
		return "fixed in " + draw(r, 9, hexa) + " (v1.4.2-3-g" + draw(r, 7, hexa) + ")"
	}},
	{"sha256", func(r *rand.Rand) string { return "sha256:" + draw(r, 64, hexa) }},
	{"image", func(r *rand.Rand) string { return "nginx@sha256:" + draw(r, 64, hexa) }},
	{"md5", func(r *rand.Rand) string { return draw(r, 32, hexa) + "  data/revenue.csv" }},
	{"uuid", func(r *rand.Rand) string { return "request " + uuid(r) + " failed" }},
	{"integrity", func(r *rand.Rand) string { return `"integrity": "sha512-` + draw(r, 86, base64s) + `=="` }},
	{"go-sum", func(r *rand.Rand) string { return "golang.org/x/text v0.23.0 h1:" + draw(r, 43, base64s) + "=" }},
	{"base64-image", func(r *rand.Rand) string { return "data:image/png;base64,iVBORw0KGgo" + draw(r, 600, base64s) + "==" }},
	{"report-name", func(r *rand.Rand) string {
		return "risk-assessment-report-" + draw(r, 4, digits) + " and task-force-planning-document"
	}},
	{"sk-word", func(r *rand.Rand) string {
		return "disk-usage-of-the-whole-" + draw(r, 6, lower) + "-cluster-by-namespace"
	}},
	{"aws-secret-example", func(*rand.Rand) string {
		return "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	}},
	{"filler-token", func(*rand.Rand) string { return "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" }},
	{"your-key", func(*rand.Rand) string { return "OPENAI_API_KEY=your-api-key-here" }},
	{"dots", func(*rand.Rand) string { return "export ANTHROPIC_API_KEY=sk-ant-..." }},
	{"getenv", func(r *rand.Rand) string { return `apiKey := os.Getenv("SHOP_API_KEY_` + draw(r, 3, capital) + `")` }},
	{"process-env", func(*rand.Rand) string { return "const token = process.env.GITHUB_TOKEN" }},
	{"actions-secret", func(*rand.Rand) string { return "token: ${{ secrets.GITHUB_TOKEN }}" }},
	{"shell-variable", func(*rand.Rand) string { return `curl -H "Authorization: Bearer $TOKEN" https://api.internal` }},
	{"angle", func(*rand.Rand) string { return "password=<your-password>" }},
	{"url-angle", func(*rand.Rand) string { return "postgres://user:<password>@localhost/shop" }},
	{"token-count", func(r *rand.Rand) string {
		return "max_tokens: 4096, input_tokens: " + draw(r, 6, digits) + ", token_count=" + draw(r, 5, digits)
	}},
	{"tokenizer", func(*rand.Rand) string { return "tokenizer: cl100k_base" }},
	{"password-rule", func(*rand.Rand) string { return "the password must have at least 12 characters and one digit" }},
	{"password-asked", func(*rand.Rand) string { return "it asks for a password: what do I type?" }},
	{"password-field", func(*rand.Rand) string { return `password_field = form.find("input", name="password")` }},
	{"password-type", func(*rand.Rand) string { return "type User struct { Password string `json:\"password\"` }" }},
	{"secret-name", func(*rand.Rand) string { return "kubectl get secret shop-database-credentials" }},
	{"pod", func(r *rand.Rand) string {
		return "pod/api-" + draw(r, 10, lower+digits) + "-" + draw(r, 5, lower+digits) + " restarted"
	}},
	{"public-key", func(r *rand.Rand) string {
		return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + draw(r, 43, base64s) + " you@laptop"
	}},
	{"certificate", func(r *rand.Rand) string {
		return "-----BEGIN CERTIFICATE-----\n" + draw(r, 64, base64s) + "\n" + draw(r, 64, base64s) + "\n-----END CERTIFICATE-----"
	}},
	{"public-pem", func(r *rand.Rand) string {
		return "-----BEGIN PUBLIC KEY-----\n" + draw(r, 64, base64s) + "\n-----END PUBLIC KEY-----"
	}},
	{"ulid", func(r *rand.Rand) string { return "event 01J" + draw(r, 23, capital+digits) }},
	{"etag", func(r *rand.Rand) string { return `ETag: W/"` + draw(r, 32, hexa) + `"` }},
	{"trace", func(r *rand.Rand) string {
		return "traceparent: 00-" + draw(r, 32, hexa) + "-" + draw(r, 16, hexa) + "-01"
	}},
	{"tool-use", func(r *rand.Rand) string { return "toolu_" + draw(r, 24, alnum) }},
	{"identifier", func(*rand.Rand) string { return "AbstractSingletonProxyFactoryBeanConfigurationProperties2" }},
	{"path", func(r *rand.Rand) string { return "/var/lib/docker/overlay2/" + draw(r, 64, hexa) + "/merged" }},
	{"url", func(r *rand.Rand) string { return "https://example.com/docs/a:b@2/page?id=" + draw(r, 12, digits) }},
	{"bearer-word", func(*rand.Rand) string { return "the bearer of this ticket is authorized" }},
	{"cookie-word", func(*rand.Rand) string { return "Cookie: the banner must say which ones we set" }},
	{"cookie-theme", func(*rand.Rand) string { return "Set-Cookie: theme=dark; Path=/" }},
	{"css", func(r *rand.Rand) string { return `<div class="sk-fading-circle sk-` + draw(r, 5, lower) + `">` }},
	{"version", func(*rand.Rand) string { return "upgrade to 2.1.329+build.20261120" }},
	{"user-flag", func(*rand.Rand) string { return "docker run -u 1000:1000 -p 8080:80 nginx" }},
	{"mkdir-flag", func(*rand.Rand) string { return "mkdir -p build/output2 && psql -p5432 shop" }},
	{"author", func(*rand.Rand) string { return "authority: https://login.internal/tenant, author: jane" }},
}
