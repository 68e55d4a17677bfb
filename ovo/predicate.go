package ovo

import (
	"regexp"
	"strings"
)

// versionPredicateType is VersionPredicate, the type of VersionPredicateField: conditions on a version, separated by
// commas, such as ">=1.0, <2.0". It takes text only and keeps it as it is.
type versionPredicateType struct {
	asIs
	quotedText
}

func (versionPredicateType) Name() string { return "VersionPredicate" }

func (versionPredicateType) coerce(at place, v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, &ValueError{"Version " + at.text(v) + " should be a string type, not <class '" + pyQualifiedName(v) + "'>"}
	}
	for condition := range strings.SplitSeq(s, ",") {
		if !validCondition(condition) {
			return nil, &ValueError{"Version " + s + " is not a valid predicate in field " + at.String()}
		}
	}
	return s, nil
}

// versionText is the grammar of PEP 440.
var versionText = regexp.MustCompile(`(?i)^v?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*` +
	`(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?[0-9]*)?` +
	`(?:-[0-9]+|[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?` +
	`(?:[-_.]?dev[-_.]?[0-9]*)?` +
	`(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$`)

// validCondition checks one condition: an operator and a version.
func validCondition(s string) bool {
	s = trimSpace(s)
	for _, op := range []string{"<=", ">=", "==", "!=", "<", ">"} {
		if rest, ok := strings.CutPrefix(s, op); ok {
			return versionText.MatchString(strings.TrimLeftFunc(rest, space))
		}
	}
	return false
}
