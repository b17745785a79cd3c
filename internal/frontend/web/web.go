// Package web is the page of `pawl serve`: the sessions of one person in a browser.
package web
