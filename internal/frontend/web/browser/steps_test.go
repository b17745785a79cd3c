//go:build chromium

package browser

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromedpFile gives the composer an image, by its field for images or that for the camera.
func chromedpFile(t *testing.T, field string) chromedp.Action[chromedp.Void] {
	raw, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "screen.png")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return chromedp.SetUploadFiles(chromedp.CSS(`.composer input[aria-label="`+field+`"]`), []string{file}, chromedp.NodeReady)
}

func keys(text string) chromedp.Action[chromedp.Void] { return chromedp.KeyEvent(text) }
func blur() chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`)
}
func scroll(to string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`document.querySelector('.scroll[role=region]').scrollTop = ` + to)
}
