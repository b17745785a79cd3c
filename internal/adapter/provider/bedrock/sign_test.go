package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

// SPEC 17.7: the signatures of AWS's published test requests
// (aws-signing-test-suite/v4, unnormalized, header-signature).
func TestSignatures(t *testing.T) {
	const unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	now := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	example := keys{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	for _, c := range []struct {
		name, method, path, query, headers, body, token, want string
	}{
		{name: "get-vanilla", want: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{name: "get-utf8", path: "/\u1234", want: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
		{name: "get-unreserved", path: "/" + unreserved, want: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
		{name: "get-space-unnormalized", path: "/example space/", want: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
		{name: "get-slashes-unnormalized", path: "//example//", want: "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"},
		{name: "get-vanilla-utf8-query", query: "\u1234=bar", want: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
		{name: "get-vanilla-query-unreserved", query: unreserved + "=" + unreserved, want: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
		{name: "get-vanilla-query-order-key-case", query: "Param2=value2&Param1=value1", want: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{name: "get-vanilla-empty-query-key", query: "Param1=value1", want: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
		{name: "get-header-key-duplicate", headers: "My-Header1:value2\nMy-Header1:value2\nMy-Header1:value1", want: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
		{name: "get-header-value-trim", headers: "My-Header1: value1\nMy-Header2: \"a   b   c\"", want: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
		{name: "get-header-value-order", headers: "My-Header1:value4\nMy-Header1:value1\nMy-Header1:value3\nMy-Header1:value2", want: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
		{name: "get-vanilla-with-session-token", token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267", want: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"},
		{name: "post-vanilla", method: "POST", want: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{name: "post-vanilla-query", method: "POST", query: "Param1=value1", want: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
		{name: "post-header-value-case", method: "POST", headers: "My-Header1:VALUE1", want: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := example
			h := http.Header{"X-Amz-Date": {"20150830T123600Z"}}
			if k.token = c.token; k.token != "" {
				h.Set("X-Amz-Security-Token", k.token)
			}
			for line := range strings.Lines(c.headers) {
				name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
				h.Add(name, value)
			}
			if c.method == "" {
				c.method = http.MethodGet
			}
			sum := sha256.Sum256([]byte(c.body))
			got := authorization(c.method, "example.amazonaws.com", c.path, c.query, h, k, hex.EncodeToString(sum[:]), "us-east-1", "service", now)
			if !strings.HasSuffix(got, "Signature="+c.want) {
				t.Error(got)
			}
			if strings.Contains(got, k.secret) {
				t.Error("the secret is in the header")
			}
		})
	}
}
