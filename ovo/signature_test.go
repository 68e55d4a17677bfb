package ovo

import "testing"

func TestSignatures(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"m(self)":          "ArgSpec(args=['self'], varargs=None, keywords=None, defaults=None)",
		"m(self, a, b=1,)": "ArgSpec(args=['self', 'a', 'b'], varargs=None, keywords=None, defaults=(1,))",
		"m(self, a=(1, 'x,)'), b={'k': [1]}, *args, **kw)": "ArgSpec(args=['self', 'a', 'b'], varargs='args', keywords='kw', defaults=((1, 'x,)'), {'k': [1]}))",
		`m(self, mode="fast", n=(1), d={"k" :[ ]})`:        "ArgSpec(args=['self', 'mode', 'n', 'd'], varargs=None, keywords=None, defaults=('fast', 1, {'k': []}))",
		"m(self, /, a)":      "ArgSpec(args=['self', 'a'], varargs=None, keywords=None, defaults=None)",
		"m(self, *, k=None)": "FullArgSpec(args=['self'], varargs=None, varkw=None, defaults=None, kwonlyargs=['k'], kwonlydefaults={'k': None}, annotations={})",
		"m(cls, context, a: int, *, b: 'str') -> None": "FullArgSpec(args=['cls', 'context', 'a'], varargs=None, varkw=None, defaults=None, kwonlyargs=['b'], kwonlydefaults=None, " +
			"annotations={'return': None, 'a': <class 'int'>, 'b': 'str'})",
		"m(self, a: dict[str, int] | None = None, *r: datetime.datetime) -> list[int]": "FullArgSpec(args=['self', 'a'], varargs='r', varkw=None, defaults=(None,), kwonlyargs=[], kwonlydefaults=None, " +
			"annotations={'return': list[int], 'a': dict[str, int] | None, 'r': <class 'datetime.datetime'>})",
	} {
		s, err := parseSignature(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := s.spec(); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", line, got, want)
		}
	}
	for _, line := range []string{
		"", "m", "m(", "m(self", "m(self))", "1m(self)", "m(self, a, a)", "m(self, a=1, b)", "m(self, *a, *b)", "m(self, **k, a)", "m(self, **k=1)",
		"m(self, a=)", "m(self, a:)", "m(self) ->", "m(self) x", "m(self, a b)", "m(/)", "m(self, *, *)",
	} {
		if s, err := parseSignature(line); err == nil {
			t.Errorf("%q was read as %s", line, s.spec())
		}
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"None", "True", "5", "-7", "1180591620717411303424", "1.5", "1e+16", "-0.0", "'it'", `"it's"`, `'\n\x07\u200b\\'`, "'é'", "[]", "[1, 'a', None]", "()", "(1,)", "(1, 2)",
		"{}", "{'a': 1, 2: [3]}", "{1}",
	} {
		v, err := parseLiteral(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := pyRepr(v); got != text {
			t.Errorf("%s reads as %s", text, got)
		}
	}
	for _, text := range []string{"", "nan", "inf", "0x1p4", "1_0.5", "'", "'\\", "[1", "[1 2]", "(", "{1: 2, 3}", "{[]: 1}", "none", "1 2", "{", "{1 2}"} {
		if v, err := parseLiteral(text); err == nil {
			t.Errorf("%q was read as %s", text, pyRepr(v))
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]tag{
		"a":                        {name: "a"},
		"a,UUID":                   {name: "a", wire: "UUID"},
		"a,plain,naive":            {name: "a", plain: true, naive: true},
		"a,of=X,default=b,c,plain": {name: "a", of: "X", hasDefault: true, def: "b,c,plain"},
		"a,DeviceType,default=":    {name: "a", wire: "DeviceType", hasDefault: true},
	} {
		got, err := parseTag(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", ",UUID", "a b", "a,UUID,String", "a,x=y", "a,,UUID"} {
		if got, err := parseTag(text); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}
