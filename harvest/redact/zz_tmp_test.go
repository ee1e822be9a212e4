package redact
import ("testing";"math/rand/v2";"strings")
func TestTmp(t *testing.T){
	r:=rand.New(rand.NewPCG(3,4))
	abc:=map[string]string{"alnum":mix,"hex":hexa,"password":mix+mix+strings.Repeat("!#%*_",4),"b64":mix+"+/","b64u":mix+"-_","lower":lower}
	gen:=func(a string,n int)string{b:=make([]byte,n);for i:=range b{b[i]=abc[a][r.IntN(len(abc[a]))]};return string(b)}
	for _,c:=range []struct{text,a string;n int}{
		{"Just take {} as password everywhere, it is only the demo box.","alnum",12},
		{"The root password of the staging machine is currently {}. It was set by the hoster.","password",12},
		{"mailgun auth: {}-2b0eef4c-7a91d3c6","hex",32},
		{"I generated a new secret: JWT_SECRET={}","hex",64},
		{"its {}","password",12},{"{}","password",14},{"here: {}","alnum",24},{"{}","b64",40},{"{}","alnum",12},{"{}","alnum",16},
		{"storage key is {}== and","b64",86},{"pw for kim is {} ok","alnum",10},{"admin / {}","password",10},{"move {} out of the code","hex",64},{"the write one is {}","hex",32},
		{"This one: {}","b64u",32},{"X{}","lower",20},{"login: {}","lower",14},
	}{
		miss:=0; ex:=""
		for range 500 {
			v:=gen(c.a,c.n)
			got,_:=Typed(nil,strings.Replace(c.text,"{}",v,1))
			if strings.Contains(got,v){miss++;ex=got}
		}
		t.Logf("%5.1f%% %-70s %s", float64(miss)/5, c.text, ex)
	}
}
func TestOddTmp(t *testing.T) {
	for _, v := range []string{"getUserAccessTokenFromRequest","MAX_CONCURRENT_TOURNAMENT_WORKERS_V2","feature/PAY-1234-stripe3ds2-challenge-flow","claude/fix-harvest-2x7k-011CUvXy","18.3.0-canary-a870b2d54-20240314","Qwen2.5-Coder-32B-Instruct-GPTQ-Int4","Base64UrlSafeEncoderV2Impl","OAuth2AccessTokenResponseHttpMessageConverter","XMLHttpRequestEventTarget2Shim","aB3!xK9_Lm2%Qz","Tr0ub4dor&3","x7Kd2VnQpXwR","argon2id","iOSAppV2APIKeyIDs","S3BucketACLV2Id","toISOString8601UTC","x86_64-unknown-linux-gnu","i18nextHttpBackend","EC2T3MicroVMs","parseJSONToYAMLv2","e2eTestsCIv3", "getX509CertFromPEM","utf8ToB64UrlV2"} {
		n, s := unexplained(v)
		t.Logf("%-45s %d/%d %v %v", v, n, s, odd(v), doubtful(v))
	}
}
