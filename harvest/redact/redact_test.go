package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	caps   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	mix    = digits + lower + caps
	hexa   = "0123456789abcdef"
)

// fake makes up a secret's body. The fixtures of this test are put together at
// run time, so that no scanner of repositories takes them for real ones.
func fake(alphabet string, n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	b[0], b[1] = alphabet[0], alphabet[len(alphabet)-1] // a digit and a letter, where there are both
	return string(b)
}

func jwtOf(claims string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc([]byte(claims)) + "." + fake(mix, 43)
}

// secrets are one example or more of every kind, in the surroundings in which
// they are found; {} marks the secret.
var secrets = []struct{ kind, text, secret string }{
	{"aws-access-key", "AWS {} in the log", "AKIA" + fake(caps+digits, 16)},
	{"aws-access-key", "session key {}.", "ASIA" + fake(caps+digits, 16)},
	{"aws-secret", "AWS_SECRET_ACCESS_KEY={}", fake(mix+"+/", 40)},
	{"aws-secret", `"SecretAccessKey": "{}",`, fake(mix+"+/", 40)},
	{"aws-secret", "aws_secret_access_key = {}\n", fake(mix+"+/", 40)},
	{"github-token", "use {}, please", "ghp_" + fake(mix, 36)},
	{"github-token", "{}", "gho_" + fake(mix, 36)},
	{"github-token", "({})", "github_pat_" + fake(mix, 22) + "_" + fake(mix, 59)},
	{"github-token", `line\n{}\n`, "ghs_" + fake(mix, 36)},
	{"gitlab-token", "{}", "glpat-" + fake(mix, 20)},
	{"gitlab-token", "runner {}", "glrt-" + fake(mix, 20)},
	{"slack-token", "{}", "xoxb-" + fake(digits, 12) + "-" + fake(digits, 12) + "-" + fake(mix, 24)},
	{"slack-token", "{}", "xapp-1-" + fake(caps+digits, 11) + "-" + fake(digits, 13)},
	{"slack-webhook", "https://{}", "hooks.slack.com/services/T" + fake(caps+digits, 9) + "/B" + fake(caps+digits, 9) + "/" + fake(mix, 24)},
	{"stripe-key", "Stripe: {}", "sk_live_" + fake(mix, 24)},
	{"stripe-key", "{}", "rk_test_" + fake(mix, 24)},
	{"stripe-key", "hook {}", "whsec_" + fake(mix, 32)},
	{"anthropic-key", "My key is {} thanks", "sk-ant-api03-" + fake(mix+"_-", 93) + "AA"},
	{"openai-key", "key {}", "sk-" + fake(mix, 48)},
	{"openai-key", "key {}", "sk-proj-" + fake(mix+"_-", 120) + "A"},
	{"openrouter-key", "{}", "sk-or-v1-" + fake(hexa, 64)},
	{"google-api-key", "maps?key={}", "AIza" + fake(mix, 35)},
	{"google-oauth", "{}", "ya29." + fake(mix, 60)},
	{"google-oauth", "id, {}", "GOCSPX-" + fake(mix, 28)},
	{"npm-token", "//npm.example.com/:_authToken={}", "npm_" + fake(mix, 36)},
	{"pypi-token", "{}", "pypi-AgEI" + fake(mix, 100)},
	{"rubygems-token", "{}", "rubygems_" + fake(hexa, 48)},
	{"docker-token", "{}", "dckr_pat_" + fake(mix, 27)},
	{"jwt", "cookie={}; path=/", jwtOf(`{"sub":"1234567890","name":"J"}`)},
	{"private-key", "key:\n{}\nend", "-----BEGIN RSA PRIVATE KEY-----\n" + fake(mix, 64) + "\n" + fake(mix, 64) + "\n-----END RSA PRIVATE KEY-----"},
	{"private-key", `"private_key": "{}",`, `-----BEGIN PRIVATE KEY-----\n` + fake(mix, 64) + `\n` + fake(mix, 20) + `==\n-----END PRIVATE KEY-----`},
	{"private-key", "{}", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + fake(mix, 70) + "\n-----END OPENSSH PRIVATE KEY-----"},
	{"private-key", "{}", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + fake(mix, 70) + "\n-----END PGP PRIVATE KEY BLOCK-----"},
	{"private-key", "cut off: {}", "-----BEGIN EC PRIVATE KEY-----\n" + fake(mix, 64) + "\n" + fake(mix, 10)},
	{"url-password", "postgres://app:{}@db:5432/shop", "s3cr3t" + fake(mix, 6)},
	{"url-password", "git clone https://x-access:{}@git.acme.test/a.git", fake(mix, 24)},
	{"authorization", `curl -H "Authorization: Bearer {}"`, fake(mix, 40)},
	{"authorization", "authorization: Basic {}", base64.StdEncoding.EncodeToString([]byte("user:pa55word123"))},
	{"authorization", `{"Authorization": "token {}"}`, fake(hexa, 40)},
	{"authorization", "sent as Bearer {} in a header", fake(mix, 32)},
	{"password", "DB_PASSWORD={}\n", "hunter2"},
	{"password", "PGPASSWORD={} psql", fake(mix, 12)},
	{"password", `"password": "{}"`, "correct-horse1"},
	{"password", "password: {}", "tr0ub4dor-3x"},
	{"password", `dbPassword = '{}'`, "Sommer2024!"},
	{"api-key", "WEATHER_API_KEY={}", fake(hexa, 32)},
	{"api-key", `apiKey: "{}"`, fake(mix, 24)},
	{"api-key", "x-api-key: {}", fake(mix, 32)},
	{"secret", "CLIENT_SECRET={}", fake(mix, 30)},
	{"secret", "SESSION_SECRET={}", fake(hexa, 32)},
	{"token", "token: {}", fake(hexa, 40)},
	{"token", "CLOUDFLARE_API_TOKEN={}", fake(mix, 40)},
	{"api-key", "HEROKU_API_KEY={}", "01234567-89ab-cdef-0123-456789abcdef"},
	{"twilio-key", "{}", "SK" + fake(hexa, 32)},
	{"sendgrid-key", "{}", "SG." + fake(mix, 22) + "." + fake(mix, 43)},
	{"mailgun-key", "api:{}", "key-" + fake(hexa, 32)},
	{"telegram-token", "bot {}", fake(digits, 10) + ":AA" + fake(mix, 33)},
	{"discord-token", "{}", base64.RawStdEncoding.EncodeToString([]byte("193847562019384756")) + "." + fake(mix, 6) + "." + fake(mix, 38)},
	{"discord-webhook", "https://{}", "discord.com/api/webhooks/" + fake(digits, 18) + "/" + fake(mix, 68)},
	{"azure-key", "AccountName=a;AccountKey={};Endpoint=x", fake(mix, 86) + "=="},
	{"azure-sas", "https://a.blob.core.windows.net/c?sv=1&sig={}", fake(mix, 43) + "%3D"},
	{"azure-secret", "{}", fake(mix, 3) + "8Q~" + fake(mix, 34)},
	{"digitalocean-token", "{}", "dop_v1_" + fake(hexa, 64)},
	{"huggingface-token", "{}", "hf_" + fake(mix, 34)},
	{"databricks-token", "{}", "dapi" + fake(hexa, 32)},
	{"heroku-key", "{}", "HRKU-" + fake(mix, 60)},
	{"shopify-token", "{}", "shpat_" + fake(hexa, 32)},
	{"square-token", "{}", "sq0atp-" + fake(mix, 22)},
	{"linear-key", "{}", "lin_api_" + fake(mix, 40)},
	{"notion-token", "{}", "secret_" + fake(mix, 43)},
	{"notion-token", "{}", "ntn_" + fake(mix, 46)},
	{"postman-key", "{}", "PMAK-" + fake(hexa, 24) + "-" + fake(hexa, 34)},
	{"age-secret-key", "{}", "AGE-SECRET-KEY-1" + fake(caps+digits, 58)},
	{"vault-token", "{}", "hvs." + fake(mix, 90)},
	{"grafana-token", "{}", "glsa_" + fake(mix, 32) + "_" + fake(hexa, 8)},
	{"terraform-token", "{}", "atlasv1." + fake(mix, 60)},
	{"figma-token", "{}", "figd_" + fake(mix, 40)},
	{"groq-key", "{}", "gsk_" + fake(mix, 52)},
	{"tailscale-key", "{}", "tskey-auth-" + fake(mix, 30)},
	{"supabase-token", "{}", "sbp_" + fake(hexa, 40)},
	{"sonarqube-token", "{}", "squ_" + fake(hexa, 40)},
	{"hubspot-token", "{}", "pat-na1-01234567-89ab-cdef-0123-456789abcdef"},
	{"buildkite-token", "{}", "bkua_" + fake(hexa, 40)},
	{"circleci-token", "{}", "CCIPAT_" + fake(mix, 22) + "_" + fake(hexa, 40)},
	{"netlify-token", "{}", "nfp_" + fake(mix, 36)},
	{"artifactory-key", "{}", "AKCp" + fake(mix, 69)},
	{"mapbox-token", "{}", "sk.eyJ" + fake(mix, 60) + "." + fake(mix, 22)},
	{"mailchimp-key", "use {}.", fake(hexa, 32) + "-us21"},
	{"airtable-token", "{}", "pat" + fake(mix, 14) + "." + fake(hexa, 64)},
	{"resend-key", "{}", "re_" + fake(mix, 8) + "_" + fake(mix, 24)},
	{"password", "SMTP_PASS={}", "hunter2boat"},
	{"password", "auth: { user: 'a', pass: '{}' }", fake(mix, 12) + "!x9"},
	{"password", "Server=db;User Id=sa;Pwd={};Encrypt=True", fake(mix, 16)},
	{"password", "log in with password {}, please", "Sommer2024!"},
	{"password", `my password is "{}".`, "hunter2boat"},
	{"password", "psql-tool --password {} shop", "hunter2boat"},
	{"password", "sshpass -p '{}' ssh web1", "hunter"},
	{"password", "mysql -h db -u root -p{} shop", "hunter2boat"},
	{"password", "curl -u admin:{} https://a.test", "hunter2boat"},
	{"password", "curl --user 'ci:{}' https://a.test", "hunter2boat"},
	{"password", "machine a.test\n  login ci\n  password {}\n", "hunter2boat"},
	{"password", "the password is {}", "hunter2"},
	{"password", `{"command":"echo the password is {}"}`, "hunter2boat"},
	{"password", "echo 'the password is {}' >note", "hunter2boat"},
	{"password", "| the password is {}| yes |", "hunter2boat"},
	{"password", "The passphrase was {}. Thanks", "tulips77"},
	{"password", "pw: {}", "hunter2"},
	{"password", "user admin, pw={}", "hunter2boat"},
	{"password", "my pw is {}, try it", "hunter2"},
	{"password", `{"pw":"{}"}`, "Tulpen-55"},
	{"password", "das Passwort ist {}", "Tulpen55"},
	{"password", "la contraseña: {}", "tulipan55"},
	{"password", "mein Kennwort: {}", "Tulpen55"},
	{"password", "Password: {}", "hunter2"},
	{"password", "Server=tcp:db,1433;Database=shop;Uid=sa;Pwd={};", "s3cret"},
	{"password", "Data Source=db;User Id=app;Password={};Encrypt=True", "correcthorse"},
	{"password", "Server=db;Uid=sa;Password={};Encrypt=True", "hunter"},
	{"password", "pwd: {}", "Hunter22"},
	{"token", "the token is {}, keep it", fake(hexa, 40)},
	{"api-key", "Our API key is {}.", fake(mix, 24)},
	{"secret", "the client secret was {}", fake(mix, 30)},
	{"password", "jdbc:oracle:thin:scott/{}@//db:1521/shop", "tiger"},
	{"password", "jdbc:mysql://db/shop?user=app&password={}&ssl=1", "hunter2"},
	{"url-password", "mongodb+srv://app:{}@cluster0.x.mongodb.net/?w=majority", fake(mix, 12)},
	{"url-password", "postgresql://app:{}@db/shop", "p@ss:w0rd"},
	{"url-password", "redis://:{}@cache:6379/0", fake(mix, 12)},
	{"url-password", "amqps://ci:{}@mq/%2f", "hunter2boat"},
	{"private-key", "const key = \"{}\"", "-----BEGIN RSA PRIVATE KEY-----\\n\" +\n  \"" + fake(mix, 64) + "\\n\" +\n  \"" + fake(mix, 64) + "\\n\" +\n  \"-----END RSA PRIVATE KEY-----"},
	{"private-key", "{}\nand so on, in prose", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n" + fake(mix, 64) + "\n" + fake(mix, 64)},
	{"private-key", "> {}\n> said the log", "-----BEGIN EC PRIVATE KEY-----\n> " + fake(mix, 64) + "\n> " + fake(mix, 64)},
	{"private-key", "the rest:\n{}\ndone", fake(mix, 64) + "\n" + fake(mix, 22) + "==\n-----END RSA PRIVATE KEY-----"},
	{"private-key", "\"…{}\"", fake(mix, 64) + "\\n" + fake(mix, 22) + "==\\n-----END RSA PRIVATE KEY-----"},
	{"password", "<server><id>ci</id><password>{}</password></server>", "hunter2boat"},
	{"password", "<db:Password>\n  {}\n</db:Password>", "Tulpen-55"},
	{"password", "<password><![CDATA[{}]]></password>", "hun&ter2"},
	{"token", "<token>{}</token>", fake(mix, 24)},
	{"password", "db:\n  password:\n    {}\n  host: a", "hunter2boat"},
	{"password", "password: >-\n  {}\nhost: a", "hunter2boat"},
	{"password", "Your new password:\n{}\n", "Sommer24"},
	{"password", "- \"password\":\n    \"{}\"\n", "hunter2boat"},
	{"token", "api_token:\n  {}\n", fake(mix, 24)},
	{"password", "| user | password |\n|------|----------|\n| app  | {} |\n", "hunter2"},
	{"password", "user | password | note\n:--|:-:|--\napp1 | `{}` | first", "hunter2boat"},
	{"password", "+------+----------+\n| user | password |\n+------+----------+\n| app1 | {}  |\n+------+----------+", "hunter2"},
	{"password", " login |  password  \n-------+------------\n app1  | {}\n(1 row)", "hunter2"},
	{"password", "next=%2Flogin%3Fuser%3Da%26password%3D{}%26x%3D1", "hunter2boat"},
	{"password", "{%22password%22%3A%22{}%22}", "hunter2%21"},
	{"password", "q=password%253D{}%2526x", "hunter2boat"},
	{"api-key", "cb=https%3a%2f%2fa.test%2f%3fapi_key%3d{}", fake(mix, 24)},
	{"url-password", "url=postgres%3A%2F%2Fapp%3A{}%40db%2Fshop", "hunter2"},
	{"url-password", "dsn=mysql%3a%2f%2fapp%3a{}%40db%3a3306", "p%40ss2"},
	{"url-password", "u=postgres%253A%252F%252Fapp%253A{}%2540db", "hunter2"},
	{"token", "X-Auth: {}", "hunter2boat"},
	{"token", "curl -H 'X-Auth-Token: {}' https://a.test", "hunter2boat"},
	{"token", "{\"x-vault-token\": \"{}\"}", "hunter2boat"},
	{"token", "Private-Token: {}", "hunter2boat"},
	{"api-key", "X-Api-Key: {}", "hunter2boat"},
	{"api-key", "X-Auth-Key: {}", fake(hexa, 12)},
	{"api-key", "Ocp-Apim-Subscription-Key: {}", fake(hexa, 32)},
	{"signature", "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={}", fake(hexa, 64)},
	{"signature", "X-Goog-Expires=60&X-Goog-Signature={}&x=1", fake(hexa, 512)},
	{"signature", "next=%3FX-Amz-Signature%3D{}", fake(hexa, 64)},
	{"token", "X-Amz-Security-Token={}&X-Amz-Date=1", fake(mix, 60) + "%2F" + fake(mix, 40)},
	{"cookie", "Cookie: session={}", "abc12345"},
	{"cookie", "set-cookie: PHPSESSID={}; path=/", "el4ukv0kqbvoirg7nkp4dncpk3"},
	{"cookie", "Cookie: theme=dark; sid={}; lang=de", fake(mix, 32)},
	{"cookie", "Set-Cookie: session={}; Path=/; HttpOnly", "s:" + fake(mix, 32)},
	{"cookie", "curl -b 'connect.sid={}' https://a.test", fake(mix, 32)},
	{"cookie", "curl --cookie \"a=1; sid={}\" https://a.test", fake(mix, 32)},
}

func TestSecrets(t *testing.T) {
	kinds := make(map[string]bool)
	for _, c := range secrets {
		kinds[c.kind] = true
		t.Run(c.kind, func(t *testing.T) {
			text := strings.Replace(c.text, "{}", c.secret, 1)
			clean, n := Detector{}.Redact(text)
			if want := strings.Replace(c.text, "{}", "[redacted:"+c.kind+"]", 1); clean != want || n != 1 {
				t.Errorf("Redact(%q) =\n%q, %d; want\n%q, 1", text, clean, n, want)
			}
		})
	}
	if len(kinds) < 40 {
		t.Errorf("%d kinds are tested, want 40", len(kinds))
	}
}

// The keys that documentation prints as examples are no secrets, wherever they
// stand; filler in the form of a key might be one.
func TestDocumentationKeys(t *testing.T) {
	for _, s := range []string{
		"aws configure set aws_access_key_id AKIA" + "IOSFODNN7EXAMPLE", "AWS_ACCESS_KEY_ID=ASIA" + "IOSFODNN7EXAMPLE; use AKIA" + "I44QH8DHBEXAMPLE.",
		"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY", "curl https://api.stripe.com/v1/charges -u sk_test_4eC39HqL" + "yjWDarjtT1zdp7dc:",
		"STRIPE_KEY=sk_test_4eC39HqL" + "yjWDarjtT1zdp7dc", "Authorization: Basic QWxhZGRpbjpv" + "cGVuIHNlc2FtZQ==", "Authorization: Bearer mF_9.B5f" + "-4.1JqM",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fw" + "pMeJf36POk6yJV_adQssw5c",
		"AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVEr" + "Cz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;",
		"maps/api/js?key=AIzaSyDaGmWKa4JsXZ-" + "HjGw7ISLn_3namBGewQe",
	} {
		if got, n := (Detector{}).Redact(s); got != s || n != 0 {
			t.Errorf("Redact(%q) = %q, %d; want it untouched", s, got, n)
		}
	}
	in := "My key is sk-ant-api03-" + strings.Repeat("FAKE", 10) + "-AA and AWS AKIA" + "IOSFODNN7EXAMPLD"
	const want = "My key is [redacted:anthropic-key] and AWS [redacted:aws-access-key]"
	if got, n := (Detector{}).Redact(in); got != want || n != 2 {
		t.Errorf("got %q, %d", got, n)
	}
}

func TestHarmless(t *testing.T) {
	for _, s := range []string{
		"commit 06a8b02c4f1de7a2b9c35d08e6f7a1b2c3d4e5f6 fixes it",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"id 550e8400-e29b-41d4-a716-446655440000",
		"src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4\"",
		"integrity=sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
		"pip install sk-learn, then import sk-image and the sk-lego-transformers-and-pipelines package",
		"API_KEY=YOUR_API_KEY", "api_key: ${API_KEY}", "token: <token>", "password=********", "PASSWORD=changeme",
		"ghp_" + strings.Repeat("x", 36), "sk-...", "token: $TOKEN", "secret: {{ .Values.secret }}", "password: %DB_PASSWORD%",
		`password := os.Getenv("DB_PASSWORD")`, "const token = process.env.GITHUB_TOKEN", "password: config.database.password",
		"token = get_token(user)", "secret: String,", "the password: it must be long", "Forgot password?",
		"max_tokens: 128000", "token_count=1234567890", "tokenizer: cl100k_base_v2", "input_tokens = 12000000",
		"access_token_url: https://auth.test/oauth2/token", "type Token = string", `{"token": "identifier"}`, "password_field = \"#password1\"",
		"see https://github.com/a/b/blob/main/x.go#L10", "http://localhost:8080/@scope/pkg", "mailto:a@b.test", "git@github.com:a/b.git",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"eyJhbGciOiJIUzI1NiJ9 alone is a header", "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Bearer tokens are credentials",
		"the secret ingredient: patience and time", "skill-creator", "SKILL.md", "AC/DC and SK Hynix", "key-value stores", "10:AAAA",
		"mask-image: url(x)", "the author's authorization: granted in 2024", "[redacted:token]",
		"password=[redacted:password]", "Authorization: Bearer [redacted:authorization]", "hf_hub_download(repo_id)", "EAAA",
		"export ANTHROPIC_API_KEY=sk-ant-...", "the password must have 12 characters", "password argon2id hashes", "the password is sha256-hashed", "the password is 12 characters long",
		"the password is stored in vault2 since May", "the password is account2's business", "password: argon2id", "password: bcrypt", "pw: see 1password", "httpw=12345678abc", "the pw is in the vault",
		"the password is required", "for(;;);password=other;", "--- PASS: TestFoo12 (0.00s)", "pwd: /home/you2/Project", "the token is invalid",
		"its secret is a-long-story-of-many-words", "the cache key is 9f86d081884c7d659a2feaa0c55ad015", "the token is base64url-encoded-json", "postgres://localhost:5432/shop?user=me@corp", "https://host:8080/@scope", "jdbc:oracle:thin:@//db:1521/shop",
		"-----END PRIVATE KEY----- ends it", "ends in -----END RSA PRIVATE KEY-----", "Cookie: theme=dark12345", "Set-Cookie: sid=deleted; Max-Age=0", "it asks for a password: what now?",
		"docker run -u 1000:1000 nginx", "mkdir -p out2 && psql -p5432 shop", "mysql -P3306 -p", "tests_passed=1234567890", "bypass: abcdefgh1234",
		"Set-Cookie: theme=dark; Path=/", "Cookie: [redacted:cookie]; theme=dark", "the cookie banner: it must be closed", "PWD=/home/you/project1",
		"login with the password that you were given", "password [redacted:password]", "curl -u $USER:$PASSWORD1 a.test", "re_initialize_the_database_2",
		"<password></password>", "<password>${db.password1}</password>", "<password>required</password>", "<input type=\"password\">value1234</input>",
		"<label>password1</label>", "psql -p <password> db12345", "<password>java.lang.String</password>", "<password>at least 8 characters</password>", "<token>identifier</token>",
		"password:\n  minLength: 12", "password:\n  type: string", "password:\n  - 12 characters", "if password:\n    login2\n", "secret:\n  secretName: app-2", "Enter the password:\nStep2: go on",
		"password:\n  ${DB_PASSWORD1}", "token:\n  position1\n", "password:\n\nThe 2nd paragraph", "password:\n  argon2id", "password:\n  hash1()\n", "password |\n  tr1ngle2", "password_policy:\n  strict123",
		"| password | string |\n| address_line1 | string |", "| field | password |\n|---|---|\n| type | string |", "| hash | password |\n|---|---|\n| kdf | argon2id |", "| user | password |\n|---|---|\n| app1 | ******** |",
		"| token | use |\n|---|---|\n| word12 | input |", "| name | password |\n|---|---|\n| a | at least 12 characters |", "password | a\nhunter2x | b", "| user1234 | password |\n|---|---|\n| hunter2boat | yes |",
		"reset_password%3Dtrue", "password%3D%24%7BDB_PASSWORD1%7D", "password%3Drequired", "password%3F", "token%3Dposition1", "max_tokens%3D128000", "100%25 of password%20users2",
		"u=https%3A%2F%2Fa.test%2F%40scope%3A1", "https%3A%2F%2Fhost%3A8080%2Fx%40y", "https%3A%2F%2Fuser%40host", "postgres%3A%2F%2Fu%3A%24%7BPASS%7D%40h",
		"X-Auth-Request-User: alice22", "X-Auth: none", "X-Next-Page-Token: CAUQAA12", "X-Idempotency-Key: 1234abcd", "X-Cache-Key: home12345", "X-Auth-Token: <token>", "x-auth-mode: oauth2", "the x-token: identifier",
		"X-Amz-SignedHeaders=host", "X-Amz-Signature=<signature>", "X-Amz-Signature is hex of 64 digits", "X-Amz-Algorithm=AWS4-HMAC-SHA256",
		"pattern.0123456789", "eu-us21", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
	} {
		if got, n := (Detector{}).Redact(s); got != s || n != 0 {
			t.Errorf("Redact(%q) = %q, %d; want it untouched", s, got, n)
		}
	}
}

// Every row of a table has its own value.
func TestColumn(t *testing.T) {
	got, n := Detector{}.Redact("| user | password | no |\n|---|---|---|\n| a | hunter2boat | 1 |\n| b | none | 2 |\n| c | hunter3boat | 3 |\n\nrow12345 | row12345 | x\n")
	const want = "| user | password | no |\n|---|---|---|\n| a | [redacted:password] | 1 |\n| b | none | 2 |\n| c | [redacted:password] | 3 |\n\nrow12345 | row12345 | x\n"
	if got != want || n != 2 {
		t.Errorf("got %q, %d", got, n)
	}
}

// A secret that was recognised once is recognised wherever it stands.
func TestRepeatedValue(t *testing.T) {
	got, n := Detector{}.Redact("DB_PASSWORD=hunter2boat\nlogin with hunter2boat failed, hunter2boat is old")
	const want = "DB_PASSWORD=[redacted:password]\nlogin with [redacted:password] failed, [redacted:password] is old"
	if got != want || n != 3 {
		t.Errorf("got %q, %d", got, n)
	}
}

func TestNeighbours(t *testing.T) {
	a, b := "ghp_"+fake(mix, 36), "glpat-"+fake(mix, 20)
	got, n := Detector{}.Redact(a + " " + b + "\n" + a + "," + b)
	want := strings.Repeat("[redacted:github-token] [redacted:gitlab-token]", 1) + "\n[redacted:github-token],[redacted:gitlab-token]"
	if got != want || n != 4 {
		t.Errorf("got %q, %d; want %q", got, n, want)
	}
}

// Equal secrets get equal placeholders, whatever gives each of them away.
func TestEqualSecrets(t *testing.T) {
	got, n := Detector{}.Redact("DB_PASSWORD=hunter2boat\npostgres://app:hunter2boat@db/shop\nTOKEN=ghp_" + fake(mix, 36) + " ghp_" + fake(mix, 36))
	const want = "DB_PASSWORD=[redacted:url-password]\npostgres://app:[redacted:url-password]@db/shop\nTOKEN=[redacted:github-token] [redacted:github-token]"
	if got != want || n != 4 {
		t.Errorf("got %q, %d", got, n)
	}
}

// counted are the detectors, their calls counted.
func counted(calls *int) *index {
	rules := slices.Concat(tokenRules(), contextRules(), spokenRules(), carrierRules(carrierTable))
	for i, r := range rules {
		rules[i].match = func(s string, at int) (int, int, bool) {
			*calls++
			return r.match(s, at)
		}
	}
	return newIndex(rules)
}

// The work on text without secrets is a table lookup per byte, and no rule is
// tried where its keyword does not stand: what a-a-a- is to a regular expression
// for sk-….
func TestWork(t *testing.T) {
	old := detectors
	defer func() { detectors = old }()
	calls := 0
	many := counted(&calls)
	detectors = func() *index { return many }
	for _, c := range []struct {
		piece string
		per   float64 // calls per piece at most
	}{{"a-a-", 0}, {"sk-", 1}, {"a-sk-", 1}, {"-----", 0}, {"eyJ", 1}, {"password ", 4}, {"password", 3}, {"aaaa", 0}, {"://", 1}} {
		calls = 0
		n := 20_000 / len(c.piece)
		Detector{}.Redact(strings.Repeat(c.piece, n))
		if most := c.per * float64(n); float64(calls) > most {
			t.Errorf("%q: %d calls of rules for 20 kB, want %g at most", c.piece, calls, most)
		}
	}
}
