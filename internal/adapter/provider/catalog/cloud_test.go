package catalog

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.7: what names a cloud, its regions and its models, also as other agents name
// them.
func TestClouds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config": "[default]\nregion = eu-central-1\n", "adc.json": `{"type":"service_account","project_id":"of-the-file"}`,
	} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	const (
		aws    = "AWS_REGION=us-east-1"
		nobody = "AWS_CONFIG_FILE=/nowhere/config"
		gcp    = "ANTHROPIC_VERTEX_PROJECT_ID=p"
	)
	for _, c := range []struct {
		name, flag string
		env        []string
		ref        string // provider/model, or a part of the error
		api, base  string
	}{
		{"bedrock alone", "bedrock", []string{aws}, "bedrock/us.anthropic.claude-sonnet-5-5", "anthropic-messages", "https://bedrock-runtime.us-east-1.amazonaws.com"},
		{"Claude Code's switch", "", []string{"CLAUDE_CODE_USE_BEDROCK=1", aws, "ANTHROPIC_API_KEY=k"}, "bedrock/us.anthropic.claude-sonnet-5-5", "anthropic-messages", ""},
		{"switched off", "", []string{"CLAUDE_CODE_USE_BEDROCK=0", aws, "ANTHROPIC_API_KEY=k"}, "anthropic/claude-sonnet-5-5", "anthropic-messages", ""},
		{"with its model", "", []string{"CLAUDE_CODE_USE_BEDROCK=true", aws, "ANTHROPIC_MODEL=eu.anthropic.claude-opus-4-6-v1"}, "bedrock/eu.anthropic.claude-opus-4-6-v1", "anthropic-messages", ""},
		{"with a short name", "", []string{"CLAUDE_CODE_USE_BEDROCK=1", aws, "ANTHROPIC_MODEL=opus[1m]"}, "bedrock/us.anthropic.claude-opus-5-5", "anthropic-messages", ""},
		{"a short name by flag", "haiku", []string{"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=eu-west-1"}, "bedrock/eu.anthropic.claude-haiku-5-5", "anthropic-messages", "https://bedrock-runtime.eu-west-1.amazonaws.com"},
		{"one that a company names", "sonnet", []string{"CLAUDE_CODE_USE_BEDROCK=1", aws, "ANTHROPIC_DEFAULT_SONNET_MODEL=arn:aws:bedrock:us-west-2:1:application-inference-profile/x"}, "bedrock/arn:aws:bedrock:us-west-2:1:application-inference-profile/x", "anthropic-messages", "https://bedrock-runtime.us-west-2.amazonaws.com"},
		{"the maker's name", "claude-opus-4-8", []string{"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=ap-northeast-1"}, "bedrock/apac.anthropic.claude-opus-4-8", "anthropic-messages", ""},
		{"behind the cloud's", "bedrock/sonnet", []string{aws}, "bedrock/us.anthropic.claude-sonnet-5-5", "anthropic-messages", ""},
		{"another region's", "bedrock/claude-opus-4-8", []string{"AWS_REGION=sa-east-1"}, "bedrock/global.anthropic.claude-opus-4-8", "anthropic-messages", ""},
		{"no maker of ours", "bedrock/openai.gpt-oss-120b-1:0", []string{aws}, "bedrock/openai.gpt-oss-120b-1:0", "openai-chat-completions", ""},
		{"the profile's region", "bedrock", []string{"AWS_CONFIG_FILE=" + dir + "/config"}, "bedrock/eu.anthropic.claude-sonnet-5-5", "anthropic-messages", "https://bedrock-runtime.eu-central-1.amazonaws.com"},
		{"no region", "bedrock", []string{nobody}, "AWS_REGION", "", ""},
		{"a region that is a host", "bedrock", []string{"AWS_REGION=x.evil.example/"}, "not a region of AWS", "", ""},
		{"a gateway", "bedrock", []string{aws, "ANTHROPIC_BEDROCK_BASE_URL=http://gw:1/bedrock/"}, "bedrock/us.anthropic.claude-sonnet-5-5", "anthropic-messages", "http://gw:1/bedrock"},
		{"another name", "aws/anthropic.claude-opus-4-6-v1", []string{aws}, "bedrock/anthropic.claude-opus-4-6-v1", "anthropic-messages", ""},
		{"pawl's variable first", "", []string{"CLAUDE_CODE_USE_BEDROCK=1", aws, "PAWL_MODEL=offline"}, "offline", "offline", ""},

		{"vertex alone", "vertex", []string{gcp}, "vertex/claude-sonnet-5-5", "anthropic-messages", "https://aiplatform.googleapis.com"},
		{"Claude Code's", "", []string{"CLAUDE_CODE_USE_VERTEX=1", gcp, "CLOUD_ML_REGION=us-east5", "ANTHROPIC_MODEL=claude-opus-4-1@20250805"}, "vertex/claude-opus-4-1@20250805", "anthropic-messages", "https://us-east5-aiplatform.googleapis.com"},
		{"a date", "claude-sonnet-4-5-20250929", []string{"CLAUDE_CODE_USE_VERTEX=1", gcp}, "vertex/claude-sonnet-4-5@20250929", "anthropic-messages", ""},
		{"Gemini CLI's", "", []string{"GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_CLOUD_PROJECT=p", "GOOGLE_CLOUD_LOCATION=europe-west1"}, "vertex/gemini-3.8-flash", "google-generate-content", "https://europe-west1-aiplatform.googleapis.com"},
		{"and its short names", "pro", []string{"GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_CLOUD_PROJECT=p"}, "vertex/gemini-3.1-pro", "google-generate-content", ""},
		{"the file's project", "vertex/gemini-2.5-pro", []string{"GOOGLE_APPLICATION_CREDENTIALS=" + dir + "/adc.json"}, "vertex/gemini-2.5-pro", "google-generate-content", ""},
		{"no project", "vertex", []string{"HOME=" + dir}, "GOOGLE_CLOUD_PROJECT", "", ""},
		{"others", "vertex/meta/llama-4-maas", []string{gcp}, "vertex/meta/llama-4-maas", "openai-chat-completions", ""},
		{"a region that is none", "vertex", []string{gcp, "CLOUD_ML_REGION=a.b/"}, "not a region of Google", "", ""},

		{"foundry", "", []string{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_API_KEY=k", "ANTHROPIC_FOUNDRY_RESOURCE=Corp"}, "foundry/claude-sonnet-5-5", "anthropic-messages", "https://corp.services.ai.azure.com/anthropic"},
		{"foundry without a key", "foundry", []string{"ANTHROPIC_FOUNDRY_RESOURCE=corp"}, "needs a key", "", ""},
		{"azure's deployment", "azure", []string{"AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com/", "AZURE_OPENAI_DEPLOYMENT=prod"}, "azure/prod", "openai-responses", "https://r.openai.azure.com/openai"},
		{"azure of old", "azure/prod", []string{"AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com", "AZURE_OPENAI_API_VERSION=2024-10-21"}, "azure/prod", "openai-chat-completions", "https://r.openai.azure.com/openai"},
		{"azure's v1", "azure/prod", []string{"AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com/openai/v1/", "OPENAI_API_VERSION=preview"}, "azure/prod", "openai-responses", "https://r.openai.azure.com/openai"},
		{"ANTHROPIC_MODEL of the maker", "", []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_MODEL=claude-opus-4-8"}, "anthropic/claude-opus-4-8", "anthropic-messages", ""},
		{"of the maker, by a short name", "anthropic", []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_MODEL=haiku"}, "anthropic/claude-haiku-5-5", "anthropic-messages", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Resolve(Want{Flag: c.flag, Env: env(c.env...)})
			if err != nil {
				var f *fault.Error
				if c.api != "" || !errors.As(err, &f) || f.Category != fault.Configuration || !strings.Contains(f.Error()+f.Hint, c.ref) {
					t.Fatal(err)
				}
				return
			}
			if got.Info.Ref() != c.ref || got.Info.API != c.api || c.base != "" && got.BaseURL != c.base {
				t.Errorf("%s %s %s", got.Info.Ref(), got.Info.API, got.BaseURL)
			}
			if got.Info.Provider != offlineName {
				if _, err := got.Open(nil, nil); err != nil { // reads no credentials
					t.Error(err)
				}
			}
		})
	}
}

// SPEC 17.7, 5.2: a model keeps its price and window in a cloud, where its name is
// known; a part of the world costs more.
func TestPricesInClouds(t *testing.T) {
	for _, c := range []struct {
		flag   string
		input  float64 // -1: not known
		window int
	}{
		{"bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 200_000},
		{"bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3, 200_000},
		{"bedrock/anthropic.claude-sonnet-4-20250514-v1:0", 3, 200_000},
		{"bedrock/us.anthropic.claude-opus-4-6-v1", 5.5, 1_000_000},
		{"bedrock/arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-opus-4-8", 5.5, 1_000_000},
		{"bedrock/arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2", -1, 0},
		{"bedrock/openai.gpt-oss-120b-1:0", -1, 0},
		{"bedrock/us.anthropic.claude-new-9-v1:0", -1, 200_000},
		{"vertex/claude-sonnet-4-5@20250929", 3, 200_000},
		{"vertex/gemini-2.5-pro", 1.25, 200_000},
		{"vertex/meta/llama-4", -1, 0},
		{"openai-compatible/claude-opus-4-8", 5, 0}, // a gateway
		{"openai-compatible/gpt-5.4-mini", 0.75, 0},
		{"openai-compatible/my-own", -1, 0},
	} {
		got, err := Resolve(Want{Flag: c.flag, Env: env("AWS_REGION=us-east-1", "GOOGLE_CLOUD_PROJECT=p", "PAWL_BASE_URL=https://gw.example/copilot", "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b")})
		if err != nil {
			t.Error(err)
			continue
		}
		price := -1.0
		if got.Info.Price != nil {
			price = got.Info.Price.Input
		}
		if math.Abs(price-c.input) > 1e-9 || got.Info.Window != c.window {
			t.Errorf("%s: %v, window %d", c.flag, price, got.Info.Window)
		}
		if price >= 0 && !got.Info.ListPrice {
			t.Errorf("%s: the price is said to be the host's own", c.flag)
		}
	}
	own := llm.Price{Input: 7}
	got, err := Resolve(Want{Flag: "bedrock/us.anthropic.claude-opus-4-6-v1", Env: env("AWS_REGION=us-east-1"), Config: Config{Models: map[string]Override{"bedrock/us.anthropic.claude-opus-4-6-v1": {Price: &own}}}})
	if err != nil || got.Info.Price.Input != 7 || got.Info.ListPrice {
		t.Errorf("a configured price: %+v %v", got.Info.Price, err)
	}
}

// SPEC 17.7: where Azure and the other clouds are asked, and with which proof.
func TestCloudRequests(t *testing.T) {
	for _, c := range []struct {
		name, flag string
		env        []string
		want       string // method, path and query
		header     string
		key        string // name of the header
	}{
		{"azure v1", "azure/prod", []string{"AZURE_OPENAI_API_KEY=az8qX2vLmN5tRw7yB3cD9fGh"}, "POST /openai/v1/responses", "az8qX2vLmN5tRw7yB3cD9fGh", "Api-Key"},
		{"azure chat", "azure-chat/prod", []string{"AZURE_OPENAI_API_KEY=az8qX2vLmN5tRw7yB3cD9fGh"}, "POST /openai/v1/chat/completions", "az8qX2vLmN5tRw7yB3cD9fGh", "Api-Key"},
		{"a deployment", "azure/my prod", []string{"AZURE_OPENAI_API_KEY=az8qX2vLmN5tRw7yB3cD9fGh", "AZURE_OPENAI_API_VERSION=2024-10-21"}, "POST /openai/deployments/my%20prod/chat/completions?api-version=2024-10-21", "az8qX2vLmN5tRw7yB3cD9fGh", "Api-Key"},
		{"dated responses", "azure/prod", []string{"AZURE_OPENAI_API_KEY=az8qX2vLmN5tRw7yB3cD9fGh", "OPENAI_API_VERSION=2025-04-01-preview"}, "POST /openai/responses?api-version=2025-04-01-preview", "az8qX2vLmN5tRw7yB3cD9fGh", "Api-Key"},
		{"Entra ID", "azure/prod", []string{"AZURE_OPENAI_AD_TOKEN=en8qX2vLmN5tRw7yB3cD9fGh"}, "POST /openai/v1/responses", "Bearer en8qX2vLmN5tRw7yB3cD9fGh", "Authorization"},
		{"a Bedrock key", "bedrock/anthropic.claude-opus-4-6-v1", []string{"AWS_BEARER_TOKEN_BEDROCK=be8qX2vLmN5tRw7yB3cD9fGh"}, "POST /model/anthropic.claude-opus-4-6-v1/invoke-with-response-stream", "Bearer be8qX2vLmN5tRw7yB3cD9fGh", "Authorization"},
		{"a gateway without", "bedrock/anthropic.claude-opus-4-6-v1", []string{"CLAUDE_CODE_SKIP_BEDROCK_AUTH=1"}, "POST /model/anthropic.claude-opus-4-6-v1/invoke-with-response-stream", "", "Authorization"},
		{"a gateway to Vertex", "vertex/claude-opus-4-6", []string{"CLAUDE_CODE_SKIP_VERTEX_AUTH=1"}, "POST /v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-4-6:streamRawPredict", "", "Authorization"},
		{"foundry", "foundry/claude-opus-4-6", []string{"ANTHROPIC_FOUNDRY_API_KEY=fo8qX2vLmN5tRw7yB3cD9fGh"}, "POST /v1/messages", "fo8qX2vLmN5tRw7yB3cD9fGh", "X-Api-Key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked, header string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked, header = r.Method+" "+r.URL.RequestURI(), r.Header.Get(c.key)
				if c.key == "Authorization" && r.Header.Get("Api-Key") != "" {
					t.Error("the token is a key, too")
				}
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"bad `+header+`"}}`)
			}))
			defer s.Close()
			got := must.Get(Resolve(Want{Flag: c.flag, Env: env(append(c.env, "AWS_REGION=us-east-1", "GOOGLE_CLOUD_PROJECT=p",
				"AZURE_OPENAI_ENDPOINT="+s.URL, "ANTHROPIC_BEDROCK_BASE_URL="+s.URL, "ANTHROPIC_VERTEX_BASE_URL="+s.URL, "ANTHROPIC_FOUNDRY_BASE_URL="+s.URL)...)}))(t)
			m := must.Get(got.Open(nil, nil))(t)
			for _, err := range m.Stream(t.Context(), &llm.Request{Head: llm.Head{Model: got.Info.Model}}) {
				if secret := strings.TrimPrefix(c.header, "Bearer "); err == nil || secret != "" && strings.Contains(err.Error(), secret) {
					t.Errorf("%v", err)
				}
			}
			if asked != c.want || header != c.header {
				t.Errorf("%s with %q", asked, header)
			}
			m.(interface{ Close() }).Close()
		})
	}
}
