package secrets

import (
	"encoding/base64"
	"strings"
	"testing"
)

// SPEC 16.7: what files of secrets hold is masked in whatever shows the file, by the
// place of the value; a Masker that holds the file masks the rest of it.
func TestSecretFiles(t *testing.T) {
	const v, w = "hunter2Correct99Horse", "Zq8wErTy7mNb4"
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(word(64, 3)+"\n", 12) + "-----END RSA PRIVATE KEY-----\n"
	aws := "wJa1rXUtnF7MI/K7MDENG+bPxRfiCYq9Zr2mKEYt"
	for _, c := range []struct {
		name, text string
		hidden     []string
		held       bool // it takes the file's name
	}{
		{"env.prod", "API_TOKEN=" + v + "\nPLAIN=hunter2hunter2\n", []string{v, "hunter2hunter2"}, true},
		{"config/database.yml", "production:\n  adapter: pg\n  password: " + w + "\n", []string{w}, false},
		{"kubeconfig", "users:\n- user:\n    client-key-data: " + base64.StdEncoding.EncodeToString([]byte(pem)) + "\n    token: " + v + "\n", []string{"LS0tLS1CRUdJTiBSU0Eg", v}, false},
		{"deploy_key", pem, []string{word(64, 3)}, false},
		{".npmrc", "//registry.npmjs.org/:_authToken=" + v + "\n//r.acme.com/:_password=" + w + "\n", []string{v, w}, false},
		{"gcp-key.json", `{"type": "service_account", "private_key_id": "x", "private_key": "` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, []string{word(64, 3)}, false},
		{"firebase-adminsdk.json", `{"private_key":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, []string{word(64, 3)}, false},
		{"appsettings.Development.json", `{"ConnectionStrings": {"Default": "Server=db;User Id=sa;Password=` + w + `;Encrypt=true"}}`, []string{w}, false},
		{"wp-config.php", "define( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', '" + w + "' );\n", []string{w}, false},
		{"auth.json", `{"github-oauth": {"github.com": "` + v + `"}}`, []string{v}, true},
		{"token.txt", w + "\n", []string{w}, true},
		{"vault.yml", "vault_db_password: '" + w + "'\n", []string{w}, false},
		{"ansible_vault_pass", w + "\n", []string{w}, true},
		{"local.settings.json", `{"Values": {"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=` + base64.StdEncoding.EncodeToString([]byte(word(64, 5))) + `;"}}`, []string{base64.StdEncoding.EncodeToString([]byte(word(64, 5)))[:60]}, false},
		{"application-prod.properties", "spring.datasource.password=" + w + "\n", []string{w}, false},
		{".my.cnf", "[client]\nuser=root\npassword=" + w + "\n", []string{w}, false},
		{"config.toml", "[db]\npassword = \"" + w + "\" # why\n", []string{w}, false},
		{"secrets/db.txt", "the password is " + w + "\n", []string{w}, true},
		{"credentials.csv", "User name,Access key ID,Secret access key\nbob,AKIAIOSFODNN7EXAMPLQ," + aws + "\n", []string{"AKIAIOSFODNN7EXAMPLQ", aws}, false},
		{"gradle.properties", "signing.password=" + w + "\nossrhToken=" + v + "\n", []string{w, v}, false},
		{"local.properties", "sdk.dir=/opt/sdk\nstorePassword=" + w + "\n", []string{w}, false},
		{"google-services.json", `{"api_key": [{"current_key": "AIza` + word(35, 7) + `"}]}`, []string{word(35, 7)}, false},
		{"rclone.conf", "[r]\ntype = sftp\npass = " + word(30, 9) + "\n", []string{word(30, 9)}, false},
		{".sentryclirc", "[auth]\ntoken=" + v + "\n", []string{v}, false},
		{".terraformrc", "credentials \"app.terraform.io\" {\n  token = \"aB3dE6gH9jK2mN.atlasv1." + v + "\"\n}\n", []string{v}, false},
		// Sisters that no list names.
		{"conn.txt", "Data Source=db; Uid=sa; Pwd=Your_password;", []string{"Your_password"}, false},
		{"deploy/staging.yaml", "smtp:\n    smtpPass: " + w + "\n", []string{w}, false},
		{"settings.xml", "<server><id>x</id><password>" + w + "</password></server>\n", []string{w}, false},
		{"web.config", `<add key="ApiKey" value="` + w + `"/>`, []string{w}, false},
		{"prod.env.bak", "DB_PASSWORD=" + w + "\n", []string{w}, false},
		{"session.json", `{"user":"bob","refreshToken":"` + v + `","n":1}`, []string{v}, false},
		{".envrc", "export FOO=Kq81vB-x7\n", []string{"Kq81vB-x7"}, true},
		{"apps/api/.env.local", "SENTRY_DSN=https://9fK2mQ7xL4pT8vB1@o1.ingest.sentry.io/2\nSALT='a b9!c'\n", []string{"9fK2mQ7xL4pT8vB1", "a b9!c"}, true},
		{"docker.env", "JWT=abcDEF123456ghiJKL\nPIN_CODE=x7Q2\n", []string{"abcDEF123456ghiJKL", "x7Q2"}, true},
		// Command lines, headers and git's configuration.
		{"", "alias.deploy=!curl -u bob:Depl0yPw77 https://x\nsendemail.smtppass=" + v + "\ngithub.token=0123456789abcdef0123456789abcdef01234567\nhttp.https://git.acme.com.extraheader=X-Auth-Key: 9fK2mQ7xL4pT8vB1\nremote.origin.url=https://me:s3cr3t@git.acme.com/r.git\n", []string{"Depl0yPw77", v, "0123456789abcdef0123", "9fK2mQ7xL4pT8vB1", "s3cr3t"}, false},
		{"", "mysqld\x00--password=" + w + "\x00--port=1\x00curl\x00-u\x00bob:Depl0yPw77\x00x", []string{w, "Depl0yPw77"}, false},
		{"", "root 1 0 app --db-password " + w + " --verbose\nroot 2 curl --user bob:Depl0yPw77 https://x\n", []string{w, "Depl0yPw77"}, false},
	} {
		m := New()
		if c.held {
			m.Hold(File{c.name, c.text})
			if !Holds(c.name) {
				t.Errorf("%s is not held", c.name)
			}
		}
		got := m.String(c.text)
		for _, h := range c.hidden {
			if strings.Contains(got, h) || strings.Contains(m.String("["+c.text), h) {
				t.Errorf("%s: %q is left of %q", c.name, h, got)
			}
		}
		if m.String(got) != got {
			t.Errorf("%s: masked again", c.name)
		}
	}
	m := New()
	m.Hold(File{".env", "DB_PASSWORD=" + w + "\nPLAIN=hunter2hunter2\n"})
	for _, text := range []string{backwards("DB_PASSWORD=" + w), backwards("PLAIN=hunter2hunter2"), "is " + w, `{"k":"hunter2hunter2"}`} {
		if got := m.String(text); !strings.Contains(got, "[masked:held]") {
			t.Errorf("%q is shown", text)
		}
	}
}

// SPEC 16.7: what an env file says of the program itself is shown.
func TestPlainSettings(t *testing.T) {
	text := "NODE_ENV=production\nPORT=8080\nDEBUG=true\nHOST=db.internal:5432\nURL=http://localhost:3000/api\nTIMEOUT=30s\nLOG_LEVEL=debug\nADDR=127.0.0.1\nEMPTY=\nREF=${OTHER}\nVERSION=1.2.3\nDIR=/var/lib/app\nUSER=postgres\nREGION=eu-west\n# comment\n"
	m := New()
	m.Hold(File{".env", text})
	if got := m.String(text); got != text {
		t.Errorf("%s", got)
	}
	m.Hold(File{".env", "SHORT=x7Q\nWORD=correct-horse-battery-staple\n"})
	if got := m.String("WORD=correct-horse-battery-staple SHORT=x7Q"); strings.Contains(got, "horse") || strings.Contains(got, "x7Q") {
		t.Error(got)
	}
	if prose := "a correct-horse-battery-staple, x7Q"; m.String(prose) != prose {
		t.Error("a value without its name is masked as a word")
	}
}

// SPEC 16.7: text about passwords has none.
func TestAboutPasswords(t *testing.T) {
	m := New()
	for _, s := range []string{
		`password := os.Getenv("DB_PASSWORD_1")`, `token: oauth2TokenSource,`, `apiKey = cfg.Keys[2].Key1`, `secret = base64Encoded`, "password: string;", `"password": "Password"`, `passwordHash = sha256sum`,
		`token = strings.Fields(line)[0]`, `"token": "test-token-1"`, `secretKey: 'my-secret-key-1'`, `{name: "password", want: "step1"}`, `private_key: ed25519.Ed25519PrivateKey`, `password: ${{ secrets.DB_PASSWORD }}`,
		`"token": "4ce16e5a-85a1-45a6-bb16-4f764b17d745"`, `tok.pass=e,t.token=r.value2;`, `<password>${env.DB_PASS1}</password>`, `<input type="password" value="">`, `curl -u user:password https://x`, `curl -u "$USER:$PASS1" x`, `sort -u a:b1c2d3`, `--password-file /run/x1y2z3a`,
		`h.Set("Authorization", "token "+tok2)`, `flag.String("password", "", "the password of user1")`, `bypass = level2check3`, `compass: n0rth3ast`, `assert password == "abc12def34"`, `token type 0x1F2e3D4c`, `go.sum h1:AbCd1234EfGh5678=`,
		`password: see https://x.org/a1b2`, `"accessToken": "/api/v1/token2"`, `email_password=bob1@acme2.com`,
	} {
		if got := m.String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// FuzzHold: values of any file mask no more than themselves, and no mask is masked again.
func FuzzHold(f *testing.F) {
	f.Add(".env", "A=b\nC='d e'\n//r/:_authToken=x\n")
	f.Add("token.txt", "\xff=\x00:\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		m := New()
		m.Hold(File{name, text})
		got := m.String(text)
		if again := m.String(got); strings.Count(again, "[masked:") < strings.Count(got, "[masked:") {
			t.Errorf("%q, then %q", got, again)
		}
	})
}
