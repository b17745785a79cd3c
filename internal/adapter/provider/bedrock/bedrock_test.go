package bedrock_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/bedrock"
	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/adapter/provider/wiretest"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// SPEC 17.7, 9.4
func TestCodec(t *testing.T) {
	t.Parallel()
	codectest.Encoding(t, bedrock.New("anthropic.claude-sonnet-4-6", provider.Tuning{}), `,"cache_control":{"type":"ephemeral"}`)
	codectest.Encoding(t, bedrock.New("openai.gpt-oss-120b-1:0", provider.Tuning{}), "")
}

// SPEC 17.7: no input causes a panic or a false reply.
func FuzzDecoder(f *testing.F) {
	codectest.Decoding(f, bedrock.New("anthropic.claude-sonnet-4-6", provider.Tuning{}),
		`chunk|{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0="}`, `chunk|{"bytes":"!"}`, `chunk|{}`, `exception:throttlingException|{"message":"slow"}`)
}

// hello is a reply as the Messages API streams it.
var hello = []string{
	`{"type":"message_start","message":{"id":"m1","model":"claude-test","usage":{"input_tokens":3}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`,
	`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
	`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":2}}`,
}

func stream(events ...string) string {
	var b bytes.Buffer
	for _, e := range events {
		b.Write(wiretest.Chunk(e))
	}
	return b.String()
}

const (
	secret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0"
	token  = "FwoGZXIvYXdzEXAMPLEsessiontoken0123456789"
)

// ask sends one request to a server that answers with body, by a model's name.
func ask(t *testing.T, model, key string, answer http.HandlerFunc) wiretest.Outcome {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}
	cfg := provider.Config{
		API: bedrock.New(model, provider.Tuning{}), BaseURL: s.URL, Key: key, KeyName: "AWS_BEARER_TOKEN_BEDROCK",
		Info: llm.Info{Provider: "bedrock", Model: model, API: bedrock.APIName(model)},
	}
	if key == "" {
		cfg.Auth = bedrock.NewCredentials(bedrock.Source{Env: func(k string) string { return env[k] }, Region: "us-east-1"})
	}
	c := must.Get(provider.New(cfg))(t)
	t.Cleanup(c.Close)
	return wiretest.Ask(t.Context(), c)
}

// SPEC 17.7: the documented request, signed or with an API key, and its stream.
func TestInvoke(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, model, key, path, auth string }{
		{"signed", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream", "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"},
		{"a profile's ARN", "arn:aws:bedrock:us-east-1:1:application-inference-profile/ab1", "", "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fab1/invoke-with-response-stream", "AWS4-HMAC-SHA256 "},
		{"an API key", "anthropic.claude-opus-4-6-v1", "bedrock-api-key-ABCDEFGHIJKL", "/model/anthropic.claude-opus-4-6-v1/invoke-with-response-stream", "Bearer bedrock-api-key-ABCDEFGHIJKL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := ask(t, c.model, c.key, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var sent map[string]json.RawMessage
				if err := json.Unmarshal(body, &sent); err != nil || string(sent["anthropic_version"]) != `"bedrock-2023-05-31"` || sent["model"] != nil || sent["stream"] != nil || sent["messages"] == nil {
					t.Errorf("%s", body)
				}
				if r.URL.EscapedPath() != c.path || !strings.HasPrefix(r.Header.Get("Authorization"), c.auth) {
					t.Errorf("%s %v", r.URL.EscapedPath(), r.Header)
				}
				if c.key == "" && (r.Header.Get("X-Amz-Security-Token") != token || !strings.Contains(r.Header.Get("Authorization"), "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,")) {
					t.Errorf("%v", r.Header)
				}
				w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
				_, _ = io.WriteString(w, stream(hello...))
			})
			if o.Err != nil || o.Text != "hello" || o.Reply.Stop != llm.StopEnd || o.Reply.Usage.Input != 3 || o.Reply.Usage.Output != 2 {
				t.Errorf("%+v", o)
			}
		})
	}
}

// SPEC 17.7: models that are not Anthropic's are asked in the form of OpenAI's.
func TestChat(t *testing.T) {
	t.Parallel()
	o := ask(t, "openai.gpt-oss-120b-1:0", "", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/openai/v1/chat/completions" || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	if o.Err != nil || o.Text != "hi" {
		t.Errorf("%+v", o)
	}
}

// SPEC 17.7, 3.2: an error has Bedrock's words, is retryable where that helps, and shows no
// secret, even where the server repeats them.
func TestFailures(t *testing.T) {
	t.Parallel()
	exception := func(kind, said string) string {
		return stream(hello[0]) + string(wiretest.Message([]byte(`{"message":"`+said+`"}`), ":message-type", "exception", ":exception-type", kind))
	}
	cut := stream(hello...)
	for _, c := range []struct {
		name   string
		status int
		kind   string // x-amzn-errortype
		body   string
		retry  bool
		long   bool
		want   string
	}{
		{"a stream that is throttled", 200, "", exception("throttlingException", "too many"), true, false, "too many"},
		{"an internal error", 200, "", exception("internalServerException", "oops"), true, false, "oops"},
		{"an unknown one", 200, "", exception("brandNewException", "oops"), true, false, "oops"},
		{"a bad input", 200, "", exception("validationException", "no"), false, false, "no"},
		{"too long", 200, "", exception("validationException", "Input is too long for requested model."), false, true, "too long"},
		{"a bad checksum", 200, "", cut[:40] + "x" + cut[41:], true, false, "checksum"},
		{"cut", 200, "", cut[:len(cut)-20], true, false, "broke off"},
		{"no end", 200, "", stream(hello[:4]...), true, false, "broke off"},
		{"not what was asked for", 200, "", "<html>proxy</html>", false, false, "not a model's reply"},
		{"throttled", 429, "ThrottlingException:http://x/", `{"message":"Too many requests"}`, true, false, "Too many requests"},
		{"a model that failed", 424, "ModelErrorException", `{"message":"model error"}`, true, false, "model error"},
		{"not allowed", 403, "AccessDeniedException", `{"message":"You don't have access to the model"}`, false, false, "have access"},
		{"an old token", 403, "ExpiredTokenException", `{"message":"The security token included in the request is expired"}`, false, false, "expired"},
		{"a wrong signature", 403, "InvalidSignatureException", `{"message":"The Canonical String should have been x-amz-security-token:` + token + ` AKIAIOSFODNN7EXAMPLE ` + secret + `"}`, false, false, "[key]"},
		{"a wrong model", 400, "ValidationException", `{"message":"The provided model identifier is invalid."}`, false, false, "identifier"},
		{"too long a request", 400, "ValidationException", `{"message":"Input is too long for requested model."}`, false, true, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := ask(t, "anthropic.claude-sonnet-4-6", "", func(w http.ResponseWriter, r *http.Request) {
				if c.kind != "" {
					w.Header().Set("x-amzn-ErrorType", c.kind)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			var f *fault.Error
			if !errors.As(o.Err, &f) || o.Reply != nil {
				t.Fatalf("%+v", o)
			}
			if f.Retryable != c.retry || errors.Is(f, fault.ErrContextLength) != c.long || !strings.Contains(f.Error(), c.want) {
				t.Errorf("retryable %v: %v", f.Retryable, f)
			}
			for _, s := range []string{secret, token, "AKIAIOSFODNN7EXAMPLE"} {
				if strings.Contains(fmt.Sprintf("%v %+v %s", f, f, f.Hint), s) {
					t.Errorf("a secret is in %v", f)
				}
			}
		})
	}
}

// SPEC 17.7: a gateway that streams Anthropic's own events, or answers with a whole
// message, is read too.
func TestGateways(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"events": "data: " + strings.Join(hello, "\n\ndata: ") + "\n\n",
		"whole":  `{"type":"message","id":"m1","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`,
	} {
		o := ask(t, "anthropic.claude-sonnet-4-6", "a-key-of-the-gateway", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		if o.Err != nil || o.Reply.Message.Text() != "hello" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if bedrock.New("anthropic.x", provider.Tuning{}).Name() != anthropic.Name {
		t.Error("what it keeps is not Anthropic's")
	}
}
