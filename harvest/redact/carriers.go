package redact

import (
	"regexp"
	"strings"
	"sync"
)

// A carrier is a place that holds a secret: the argument of a program, a field of a
// file. Where one of its words is, its pattern is tried on the text from there on, or,
// if it ends in $, on the text before. The first group of the pattern that matches is
// the secret. In a pattern
//
//	<v>  is a value of 4 bytes or more, which holds no blank and no quote,
//	<q>  one that may be quoted,
//	<b>  base64 of 20 digits or more,
//	<n>  the name of a secret: DB_PASSWORD, apiKey.
//
// A value is none if it is a reference, an example or filler; unless the pattern says
// by itself what it is made of, it has to be one that people or programs make up.
//
// example is a text that holds such a secret; {alphabet:n} is replaced by n characters
// of an alphabet when it is tested.
type carrier struct {
	kind    string
	words   string // separated by spaces; ~ is a space
	pattern string
	example string
}

var carriers = []carrier{
	// Fields of configuration files.
	{"docker-auth", `auth" auth\`, `^auth\\*"\s*:\s*\\*"<b>`, `{"auths":{"ghcr.io":{"auth":"{base64:28}"}}}`},
	{"npm-auth", "_auth", `^_auth\\*["']?(?:\s*[=:]\s*|\s+)\\*["']?<b>`, "//npm.acme.dev/:_auth = \"{base64:36}\""},
	{"kubeconfig-key", "client-key-data", `^client-key-data\\*["']?[\s:=]+\\*["']?<b>`, "client-key-data: {base64:80}"},
	{"azure-key", "account-key accountkey account_key", `^account[-_]?key\\*["']?[\s:=]+\\*["']?<b>`, `"accountKey" : "{base64:86}=="`},
	{"aws-token", "session_token sessiontoken security-token", `^(?:session_?|security-)token\\*["']?\s*[=:]\s*\\*["']?([A-Za-z0-9+/%]{40,}={0,2})`, `"SessionToken":"{base64:200}"`},
	{"wireguard-key", "privatekey presharedkey private-key", `^(?:private-?|preshared)key\s*[=:]\s*([A-Za-z0-9+/]{42,44}=?)`, "PrivateKey = {base64:43}="},
	{"wireguard-key", "wg~genkey", `^wg genkey[^\n]*\n\s*([A-Za-z0-9+/]{43}=)`, "$ wg genkey | tee k\n{base64:43}=\n"},
	{"wifi-key", "psk= psk~ psk: psk\" sec.psk", `^(?:sec\.)?psk\\*["']?[\s=:]+<q>`, "psk=\"{password:14}\""},
	{"password", "requirepass masterauth", `^(?:requirepass|masterauth)\\*["']?[\s=:]+(?:\d\)\s*)?<q>`, "requirepass {alnum:32}"},
	{"jwk", `"d" "k" "p" "q" "dp" "dq" "qi" d\": k\": p\": q\":`, `^"?(?:d|k|p|q|dp|dq|qi)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{40,})\\*"`, `{"kty":"EC","d":"{base64url:43}"}`},
	{"password", "name= name: name\" name\\ name'", `^name\\*["']?\s*[:=]\s*\\*["']?<n>\\*["']?\s*,?(?:\s|\\n)*\\*["']?value\\*["']?\s*[:=]\s*<q>`, "- name: DB_PASSWORD\n  value: {password:16}\n"},
	{"password", "value: value\" value= value\\", `^value\\*["']?\s*[:=]\s*<q>\\*["']?\s*,?(?:\s|\\n)*\\*["']?(?:name|key)\\*["']?\s*[:=]\s*\\*["']?<n>\\*["']`, `{ "value": "{alnum:30}", "name": "API_SECRET" }`},
	{"password", "key= key: key\"", `^key\\*["']?\s*[:=]\s*\\*["']<n>\\*["']\s*,?\s*\\*["']?value\\*["']?\s*[:=]\s*<q>`, `<add key="SmtpPassword" value="{password:14}" />`},
	{"password", "name=", `^name\s*=\s*\\*["']<n>\\*["'][^<>]{0,60}>\s*([^<>\s]{6,})\s*</`, `<string name="api_key">{alnum:32}</string>`},
	{"password", "<key>", `^<key><n></key>\s*<string>([^<>\s]{6,})</`, "<key>API_KEY</key>\n<string>{alnum:40}</string>"},
	{"password", "variable~\"", `^variable\s+"<n>"\s*\{[^{}]{0,300}?\bdefault\s*=\s*<q>`, "variable \"db_password\" {\n  type = string\n  default = \"{password:18}\"\n}"},
	{"password", ":5432: :5433: :6432: :543", `^:\d{2,5}:[^:\s]+:[^:\s]+:<v>`, "db1.acme.test:5432:orders:app:{password:16}"},
	{"password", "*:*:", `^\*:\*:[^:\s]+:<v>`, "*:*:*:postgres:{alnum:20}"},
	{"password", "@tcp( @unix(", "[\\w.-]:([^\\s:\"'`]{4,200})$", "app:{alnum:16}@tcp(127.0.0.1:3306)/app"},
	{"cookie", "\tTRUE\t \tFALSE\t", `^\t(?:TRUE|FALSE)\t/\S*\t(?:TRUE|FALSE)\t\d+\t[^\s]+\t(\S{12,})`, ".acme.test\tTRUE\t/\tTRUE\t1767225600\tsession\t{alnum:32}"},
	{"cookie", "document.cookie", `^document\.cookie[^\n"'\x60]{0,16}["'\x60]{1,2}(?:[^;"'\n]*;\s*)*?[\w.-]*(?:sess|sid|auth|token|jwt|login|remember)[\w.-]*=([^;"'\s]{8,})`, `document.cookie = "auth={base64url:43}; path=/"`},
	{"cookie", "sessionid= session= connect.sid= phpsessid= jsessionid= sid=", `^(?:sessionid|session|connect\.sid|phpsessid|jsessionid|sid)=([^;"'\s&,]{16,})`, "take sessionid=s%3A{alnum:32} for it"},
	{"password-hash", "$6$ $5$ $1$ $y$ $7$ $2a$ $2b$ $2y$ $argon2", `^\$(?:[0-9a-z]{1,2}|argon2id?|argon2d)\$([A-Za-z0-9./$=,+]{30,})`, "root:$6$salt1234${alnum:86}:19731:0"},

	// Arguments of programs.
	{"password", "curl~", `^curl(?:\s[^\n]{0,200}?)?\s\\*["']?-[a-zA-Z]*u\s*\\*["']?[^\s:"']+:([^\s"'\\]{4,})`, "curl -su admin:{alnum:16} https://nexus.acme.test"},
	{"password", "redis-cli", `^redis-cli\b[^\n|]{0,120}?[\s"',](?:-a|--pass)[\s=,"'\\]+([^\s"'\x60\\]{4,})`, `test: ["CMD", "redis-cli", "-a", "{alnum:20}", "ping"]`},
	{"password", "mongo", `^mongo(?:sh|dump|restore|export|import|stat|top)?\b[^\n|]{0,200}?\s(?:-p|--password)[\s=]*<q>`, "mongosh admin -u root -p '{password:16}'"},
	{"password", "sqlcmd bcp~ osql~", `^(?:sqlcmd|bcp|osql)\b[^\n|]{0,200}?\s-P\s*<q>`, "sqlcmd -S db -U sa -P {alnum:15} -d Sales"},
	{"password", "ldap", `^ldap[a-z]+\b[^\n|]{0,240}?\s-w\s*<q>`, "ldapsearch -x -D cn=admin,dc=acme -w {alnum:16} -b dc=acme"},
	{"password", "auth=( auth~=~( basicauth(", `(?i)^(?:auth\s*=\s*|\w*basicauth)\(\s*\\*["'][^"'\n]*["']\s*,\s*\\*["']<v>`, `auth=("jira-bot", "{alnum:24}")`},
	{"password", ".login(", `^\.login\(\s*["'][^"'\n]+["']\s*,\s*["']([^"'\n]{6,64})["']`, `server.login("a@acme.test", "{alnum:16}")`},
	{"password", "echo~ printf~ printf( echo\t", `^(?:echo|printf)\s+(?:-\w+\s+|\\*["']%s(?:\\+n)?\\*["']\s+)*<q>\\*["']?\s*\|\s*(?:sudo\s+(?:-\w+\s+)*-\w*S|gh secret|gh auth|docker login|podman login|helm registry|vault |kubectl |passwd|(?:sudo )?chpasswd|openssl |gpg |glab )`, "echo {alnum:12} | sudo -S true"},
	{"password", "<<<~ <<<", `^<<<\s*<q>`, "sudo -S <<< \"{alnum:14}\" true"},
	{"password", "setenv~ setx~ set~- setenvironmentvariable(", `^(?:setenv|setx|set\s+-\w+|setenvironmentvariable\()\s*["']?<n>["']?[\s,=]+<q>`, "set -gx OPENWEATHER_API_KEY {hex:32}"},
	{"password", "put-parameter secretsmanager", `^(?:put-parameter|secretsmanager)\b[\s\S]{0,300}?--(?:value|secret-string)[\s=]+<q>`, "aws ssm put-parameter --type SecureString --value {alnum:32}"},
	{"password", "secret~set variable~set", `^(?:secret|variable) set\b[^\n]{0,160}?(?:--body|-b|--value|-v)[\s=]*<q>`, "gh secret set SONAR -R acme/api -b {hex:40}"},
	{"password", "securestring", `^securestring\s+(?:-string\s+)?\(?<q>`, "ConvertTo-SecureString \"{password:16}\" -AsPlainText"},
	{"password", "|~convertto-securestring", `["']([^"'\n]{4,100})["']\s*$`, `("{password:18}" | ConvertTo-SecureString -AsPlainText)`},
	{"password", "pass:", `^pass:<v>`, "openssl enc -pass pass:{alnum:16}"},
	{"password", "zip~", `^zip\b[^\n|]{0,120}?\s(?:-P|--password)[\s=]*<q>`, "unzip -P \"{alnum:18}\" drop.zip"},
	{"password", "7z~ 7za~ 7zz~ rar~", `^(?:7z[az]?|rar)\s[^\n|]{0,120}?\s-h?p<q>`, "7z x -p{alnum:18} drop.7z"},
	{"password", "identified~", `^identified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?\\*["']([^"'\n]{4,100})["'\\]`, "CREATE USER 'a'@'%' IDENTIFIED BY '{password:14}';"},
	{"password", "password~' password~n' password~=~n' password=n'", `^password\s*=?\s*N?\\*'([^'\s\n]{4,100})'`, "ALTER ROLE r WITH LOGIN PASSWORD '{password:16}';"},
	{"password", "az~login service-principal", `^(?:az login|service-principal)\b[^\n]{0,200}?\s(?:-p|--password)[\s=]+<q>`, "az login --service-principal -u x -p {alnum:30}"},
	{"password", "vault~login docker~login npm~login", `^vault login\s+<q>`, "vault login {alnum:26}"},
	{"password", "op~signin", `^op signin\b[^\n]*?\s(A3-[A-Z0-9-]{20,})`, "op signin acme.1password.test kim@acme.test A3-{base32:6}-{base32:6}-{base32:5}-{base32:5}-{base32:5}-{base32:5}"},
	{"private-key", "private-key~ private~key: private~key\" accounts:", `^(?:private[- _]key|accounts)(?: is| ist| was)?[\s:="'\x60\[\\]+((?:0x)?[0-9a-fA-F]{64})\b`, "Private Key: 0x{hex:64}"},
	{"recovery-code", "recovery~code backup~code scratch~code emergency~code", `^(?:recovery|backup|scratch|emergency) codes?[^\n:]{0,40}?[:\s]\s*(?:\[redacted:recovery-code\][\s,]*)*(\d{6,10}|[a-z0-9]{4,6}(?:-[a-z0-9]{4,6})+)\b`, "Backup codes:\n  {hex:5}-{hex:5}\n  {hex:5}-{hex:5}"},
	{"private-key", "wallet", `^wallet\W{1,3}(?:is\s|key\s)?((?:0x)[0-9a-fA-F]{64})\b`, "from my burner wallet 0x{hex:64}"},
	{"mnemonic", "mnemonic seed~phrase wallet~from recovery~phrase", `^[\w ]{6,30}?[^\w]{1,6}(?:is |from )?["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})`, "mnemonic: {bip:12}"},

	{"pin", "alarm_code door_code gate_code lock_code access_code unlock_code alarm_pin door_pin lock_pin sim_pin security_code pairing_code", `^[a-z]+_(?:code|pin)["']?\s*[:=]\s*["']?(\d{4,10})\b`, "alarm_code: {digits:6}"},
	{"azure-key", "key1~ key2~", `^key[12] [ \w]{1,60} ([A-Za-z0-9+/]{86}==)`, "key1  FULL  {base64:86}=="},
	{"secret", "unseal~key recovery~key root~token master~key", `^(?:unseal|recovery|root|master) (?:key|token)(?: \d+)?: <v>`, "Unseal Key 1: {base64:43}="},
	{"password", "smbclient rpcclient", `^(?:smb|rpc)client\b[^\n]{0,200}?\s-U\s*["']?[^\s"'%]+%<q>`, `smbclient //fs/share -U 'ACME\kim%{alnum:14}'`},
	{"password", "mysql~ mysqldump~ mariadb~ mysqladmin~", `^(?:mysql|mysqldump|mariadb|mysqladmin) (?:[^\n]{0,240}? )?-p<q>`, "mysql -u root -p{alnum:14} shop"},
	{"password", "sshpass~-p", `^sshpass -p\s*["']?([^\s"'\x60\\<>|,]{4,})`, "sshpass -p {alnum:12} ssh kim@h"},
	{"password", "login~", `^login [\w.@+-]+\s+password <q>`, "machine h login kim password {alnum:12}"},
	{"password", "e:thin: e:oci:", `^e:(?:thin|oci):[\w.@+-]+/([^\s@'"\x60\\<>]{4,})@`, "jdbc:oracle:thin:kim/{alnum:12}@db:1521"},
	{"password", "net~use", `^net use\s[^\n]{0,160}?\\\\\S+\s+<q>\s+/user`, `net use Z: \\fs\share {alnum:14} /user:kim`},
	{"password", "xfreerdp wlfreerdp", `^[xw]l?freerdp\d?\b[^\n]{0,200}?\s/p:<q>`, "xfreerdp /v:pc1 /u:kim /p:{alnum:14}"},
	{"password", "htpasswd", `^htpasswd\s+-\w*b\w*\s+(?:[^\s"']+\s+){1,2}<q>`, "htpasswd -nbB kim {alnum:14}"},
	{"password", "mc~alias", `^mc alias set \S+ \S+ \S+ <q>`, "mc alias set s3 https://s3.acme.test kim {alnum:24}"},
	{"password", "ssh-keygen", `^ssh-keygen\b[^\n]{0,200}?\s-[NP]\s*<q>`, "ssh-keygen -t ed25519 -N '{alnum:14}' -f k"},
	{"password", "AUTH~", `^AUTH (?:\S+ )?["']?([^\s"'\\]{8,})["']?(?:\s*\\?n|\s*$|[\r\n])`, "db:6379> AUTH {alnum:24}\nOK"},
	{"password", "config~http-basic", `^config http-basic\.\S+ \S+ <q>`, "poetry config http-basic.acme ci {alnum:24}"},
	{"password", "auth(", `^auth\(\s*["']([^"'\s]{12,})["']\s*\)`, `ok = red:auth("{alnum:24}")`},
	{"token", "/t/", `^/t/([A-Za-z0-9-]{20,})/`, "https://conda.acme.test/t/ac-{hex:32}/main"},

	// Headers and addresses.
	{"authorization", "authorization", `^authorization\\*["']?\s*[:=]\s*\\*["'\x60]?(?:[A-Za-z][A-Za-z0-9_-]{1,30}\s+)(?:\w+=)?\\*["']?([A-Za-z0-9._~+/=-]{12,})`, "Authorization: GenieKey {hex:32}"},
	{"function-key", "?code= &code=", `^[?&]code=([A-Za-z0-9_-]{40,}={0,2}|[A-Za-z0-9_/+-]{40,}(?:={0,2}|%3D))`, "https://a.azurewebsites.test/api/x?code={base64url:52}"},
	{"webhook", "incomingwebhook/", `^incomingwebhook/([0-9a-f]{32}(?:/[\w-]+)?)`, "https://a.webhook.office.test/webhookb2/x/IncomingWebhook/{hex:32}/y"},
	{"webhook", "hooks.zapier.com/hooks/catch/", `^hooks\.zapier\.com/hooks/catch/\d+/([a-zA-Z0-9]{6,})`, "https://hooks.zapier.com/hooks/catch/8812034/{alnum:8}/"},
	{"webhook", "maker.ifttt.com/trigger/", `^maker\.ifttt\.com/trigger/[^/\s]+/(?:json/)?with/key/([\w-]{16,})`, "https://maker.ifttt.com/trigger/done/with/key/{alnum:22}"},
	{"otp-secret", "otpauth://", `^otpauth://[^\s"']{0,200}?secret=([A-Z2-7=]{16,})`, "otpauth://totp/a?secret={base32:32}&issuer=A"},

	// Tokens without a mark of one piece.
	{"paseto", "v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.", `^(v\d\.(?:local|public)\.[\w-]{32,}(?:\.[\w-]+)?)`, "v4.local.{base64url:120}"},
	{"onepassword-key", "A3-", `^(A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5})\b`, "Secret Key  A3-{base32:6}-{base32:6}-{base32:5}-{base32:5}-{base32:5}-{base32:5}"},
	{"twitter-token", "AAAAAAAAAAAAAAAAAAAAA", `^(A{18,24}[A-Za-z0-9%]{50,120})(?:[^A-Za-z0-9+/=%]|$)`, `Client("AAAAAAAAAAAAAAAAAAAAA{alnum:93}")`},
	{"google-app-password", "app~password app-password", `^app[ -]password\W{0,4}(?:is\s|:|=)?\s*["']?((?:[a-z]{4} ){3}[a-z]{4}|[a-z]{16})\b`, "app password: {lower:4} {lower:4} {lower:4} {lower:4}"},
	{"google-app-password", "pass: pass= password: password= pass\" gmail.com\"", `^(?:pass(?:word)?|gmail\.com)\\*["']?\s*[:=,]\s*\\*["']((?:[a-z]{4} ){3}[a-z]{4}|[a-z]{16})\\*["']`, `pass: "{lower:4} {lower:4} {lower:4} {lower:4}"`},
	{"aws-secret", open + "aws-access-key]", `^\[redacted:aws-access-key\][\s\S]{1,80}?(?:[^A-Za-z0-9+/]|\\n)([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|$)`, "AKIA{base32:16},{base64:40}\n"},
}

// The names of variables and fields that hold secrets.
const nameOfSecret = `[\w.:-]*(?:passw(?:or)?d|_pass|pass_|pwd|secret|token|api_?key|access_?key|private_?key|auth_?key|credential|_key|passphrase|pass)\w*`

var shorthands = strings.NewReplacer(
	"<q>", `\\*["'\x60]?([^\s"'\x60\\<>]{4,512})`,
	"<v>", `([^\s"'\x60\\<>,;|)]{4,512})`,
	"<b>", `([A-Za-z0-9+/_-]{20,}={0,2})`,
	"<n>", nameOfSecret)

// exactWords reports whether letter case says something in the words of a carrier.
func exactWords(words string) bool { return strings.ToLower(words) != words }

func carrierRules() []rule {
	var rules []rule
	for _, c := range carriers {
		pattern := shorthands.Replace(c.pattern)
		if !exactWords(c.words) {
			pattern = "(?i)" + pattern
		}
		re, madeUp := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }), strings.Contains(c.pattern, "<q>") || strings.Contains(c.pattern, "<v>") || strings.HasSuffix(c.pattern, "$")
		before := strings.HasSuffix(c.pattern, "$")
		match := func(s string, at int) (int, int, bool) { return carried(re(), s, at, before, madeUp) }
		for w := range strings.FieldsFuncSeq(c.words, func(r rune) bool { return r == ' ' }) {
			rules = append(rules, rule{kind: c.kind, word: strings.ReplaceAll(w, "~", " "), exact: exactWords(c.words), vague: true, match: match})
		}
	}
	return rules
}

// carried finds the first group of re in the text from s[at] on, or before it.
func carried(re *regexp.Regexp, s string, at int, before, madeUp bool) (start, end int, ok bool) {
	const far, back = 1 << 10, 240
	from, text := at, s[at:min(len(s), at+far)]
	if before {
		from = max(0, at-back)
		text = s[from:at]
	}
	m := re.FindStringSubmatchIndex(text)
	if m == nil {
		return 0, 0, false
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] < 0 {
			continue
		}
		start, end = from+m[g], from+m[g+1]
		if m[g+1] == len(text) && !before { // longer than the window
			end = run(s, end, dashedBase64)
		}
		v := s[start:end]
		if madeUp {
			end -= len(v) - len(strings.TrimRight(v, ".,;:)}]"))
			v = s[start:end]
		}
		look := v[:min(len(v), 256)]
		if harmless(look) || uuid(v) || strings.Contains(look, open) {
			return 0, 0, false
		}
		if madeUp && (strings.IndexByte("$<{(%[", v[0]) >= 0 || strings.ContainsAny(look, "({") || !invented(look)) {
			return 0, 0, false
		}
		return start, end, true
	}
	return 0, 0, false
}

var dashedBase64 = bytesOf("A-Za-z0-9+/=_-")

// invented reports whether v may be a value that somebody or a program made up: it is
// no plain word or number and no path.
func invented(v string) bool {
	if odd(v) {
		return true
	}
	if len(v) < 4 || strings.HasPrefix(v, "/") && !base64Key.MatchString(v) || strings.HasPrefix(v, "-") || strings.HasPrefix(v, "./") || strings.Contains(v, "://") || algorithm(v) {
		return false
	}
	return mixed(v) || strings.ContainsAny(v, "!@#%^&*+?~=") || odd(v) || strings.ToLower(v) != v && strings.ToUpper(v[:1])+v[1:] != v && len(v) >= 8
}
