package ovo

import (
	"regexp"
	"strings"
)

// sensitiveStringType is SensitiveString, the type of SensitiveStringField: a String whose text form has passwords
// masked. The wire has them in clear.
type sensitiveStringType struct{ stringType }

func (sensitiveStringType) Name() string { return "SensitiveString" }

func (t sensitiveStringType) stringify(at place, v any) (string, error) {
	return t.stringType.stringify(at, maskPasswords(pyStr(v)))
}

// sensitiveKeys are the names that oslo.utils takes for names of secrets, in its order.
var sensitiveKeys = []string{
	"adminpass", "admin_pass", "password", "admin_password", "auth_token", "new_pass", "auth_password", "secret_uuid",
	"secret", "sys_pswd", "token", "configdrive", "chappassword", "encrypted_key", "private_key", "fernetkey", "sslkey",
	"passphrase", "cephclusterfsid", "octaviaheartbeatkey", "rabbitcookie", "cephmanilaclientkey",
	"pacemakerremoteauthkey", "designaterndckey", "cephadminkey", "heatauthencryptionkey", "cephclientkey",
	"keystonecredential", "barbicansimplecryptokek", "cephrgwkey", "swifthashsuffix", "migrationsshkey", "cephmdskey",
	"cephmonkey", "chapsecret",
}

// maskPatterns are the ways in which a secret follows its name KEY, with what each is replaced by. SPACE and SOLID stand
// for Python's \s and \S inside brackets.
var maskPatterns = []struct{ pattern, masked string }{
	{`(KEY[0-9]*[SPACE]*[=][SPACE]*["'])[^"']*(["'])`, "${1}***${2}"},
	{`(KEY[0-9]*[SPACE]*[=][SPACE]*["])[^"]*(["])`, "${1}***${2}"},
	{`(KEY[0-9]*[SPACE]*[=][SPACE]*['])[^']*(['])`, "${1}***${2}"},
	{`(KEY[0-9]*[SPACE]+["'])[^"']*(["'])`, "${1}***${2}"},
	{`([-]{2}KEY[0-9]*[SPACE]+)[^'"=^SPACE]+([SPACE]*)`, "${1}***${2}"},
	{`(<KEY[0-9]*>)[^<]*(</KEY[0-9]*>)`, "${1}***${2}"},
	{`(["']KEY[0-9]*["'][SPACE]*:[SPACE]*["'])[^"']*(["'])`, "${1}***${2}"},
	{`(['"][^"']*KEY[0-9]*['"][SPACE]*:[SPACE]*u?['"])[^"']*(['"])`, "${1}***${2}"},
	{`(['"][^'"]*KEY[0-9]*['"][SPACE]*,[SPACE]*'--?[A-z]+'[SPACE]*,[SPACE]*u?['"])[^"']*(['"])`, "${1}***${2}"},
	{`(KEY[0-9]*[SPACE]*--?[A-z]+[SPACE]*)[^SPACE]+([SPACE]*)`, "${1}***${2}"},
	{`(KEY[0-9]*[SPACE]*[=][SPACE]*)[^'"^SPACE]+`, "${1}***"},
	{`(['"][^"']*KEY[0-9]*['"][SPACE]*:[SPACE]*u?['"].*['"])[^"']*(['"])`, "${1}"},
}

// maskPasswords replaces what follows the name of a secret in s, as oslo.utils' mask_password does. Patterns are compiled
// only for names that occur.
func maskPasswords(s string) string {
	for _, key := range sensitiveKeys {
		if !strings.Contains(strings.ToLower(s), key) {
			continue
		}
		fill := strings.NewReplacer("KEY", key, "SPACE", `\s\x0b\x1c-\x1f\x{85}\p{Z}`)
		for _, p := range maskPatterns {
			s = regexp.MustCompile("(?is)"+fill.Replace(p.pattern)).ReplaceAllString(s, p.masked)
		}
	}
	return s
}
