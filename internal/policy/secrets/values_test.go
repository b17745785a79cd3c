package secrets

import (
	"slices"
	"testing"
)

// SPEC 16.7: what a file of secrets holds is masked wherever it is shown.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{"DB_PASSWORD=Tr0ub4dor-and-3\n", []string{"Tr0ub4dor-and-3"}},
		{"export API_TOKEN=\"x9!kk#Zq2 7\" # why\n", []string{"x9!kk#Zq2 7"}},
		{"  secret: 'aB3-dE6-gH9-jK2'\r\n", []string{"aB3-dE6-gH9-jK2"}},
		{"{\n  \"client_secret\": \"Zx81-Cv92-Bn03\",\n  \"name\": \"Zx81-Cv92-Bn04\"\n}\n", []string{"Zx81-Cv92-Bn03"}},
		{"DATABASE_URL=postgres://app:k33p-Th1s-safe@db.internal/x\n", []string{"k33p-Th1s-safe"}},
		{"JWT_SECRET = qW7-eR8-tY9-uI0;\n", []string{"qW7-eR8-tY9-uI0"}},
		{"PASSWORD=p%40ss%21wOrd99\n", []string{"p%40ss%21wOrd99"}},
		{`{"a": {"password": "Zx81-Cv92-Bn05", "user": "Zx81-Cv92-Bn06"}, "token":"Zx81-Cv92-Bn07"}`, []string{"Zx81-Cv92-Bn05", "Zx81-Cv92-Bn07"}},
		{"A_TOKEN=Zx81-Cv92-Bn08\nPUBLIC_KEY=Zx81-Cv92-Bn09\n", []string{"Zx81-Cv92-Bn08"}},
		// Words, places, other names and references are shown.
		{"PASSWORD=development\nSECRET=changeme\nTOKEN=\nPORT=8080\nHOST=build-7.example.Org\nAPI_KEY=$OTHER_Key_9\n", nil},
		{"# PASSWORD=Tr0ub4dor-and-3\n", []string{"Tr0ub4dor-and-3"}},
		{"", nil},
		{"=\n:\nPASSWORD=\"open\n", nil},
	} {
		var got []string
		for _, v := range Values(File{"secrets.d/x.key", c.file}) {
			got = append(got, v.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.file, got, c.want)
		}
	}
}
