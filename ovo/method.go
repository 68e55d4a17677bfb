package ovo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// methodSet is the remotable methods of a class: a struct of functions.
type methodSet struct {
	class   *Class
	goType  reflect.Type
	methods []*method
	byName  map[string]*method
}

// method is one function of the set with its Python signature.
type method struct {
	set      *methodSet
	sig      *signature
	index    int // in the struct
	goType   reflect.Type
	instance bool
	params   []argument // those that travel: positional, *args, keyword-only, **kw
	result   *argument  // nil if the function returns only an error
}

// argument is a parameter or result that travels.
type argument struct {
	param
	role    role
	goType  reflect.Type
	carrier carrier
}

type role uint8

const (
	positional role = iota
	varargs
	keywordOnly
	varkw
)

// newMethodSet checks the functions of a class's methods struct against their signatures.
func newMethodSet(c *Class) (*methodSet, error) {
	set := &methodSet{class: c, goType: c.methods, byName: map[string]*method{}}
	if c.methods.Kind() != reflect.Struct {
		return nil, fmt.Errorf("methods %s are no struct of functions", c.methods)
	}
	var errs []error
	for f := range c.methods.Fields() {
		m, err := set.method(f)
		if err != nil {
			errs = append(errs, fmt.Errorf("method %s.%s: %w", c.methods, f.Name, err))
			continue
		}
		if set.byName[m.sig.name] != nil {
			errs = append(errs, fmt.Errorf("method %s.%s: two methods %s", c.methods, f.Name, m.sig.name))
		}
		set.byName[m.sig.name] = m
		set.methods = append(set.methods, m)
	}
	return set, errors.Join(errs...)
}

func (set *methodSet) method(f reflect.StructField) (*method, error) {
	if f.Type.Kind() != reflect.Func || !f.IsExported() {
		return nil, fmt.Errorf("want an exported function, not %s", f.Type)
	}
	line, ok := f.Tag.Lookup("ovo")
	if !ok {
		return nil, errors.New("no tag with the Python signature")
	}
	sig, err := parseSignature(line)
	if err != nil {
		return nil, err
	}
	m := &method{set: set, sig: sig, index: f.Index[0], goType: f.Type, instance: !sig.isClassMethod()}
	return m, m.fit()
}

// fit checks the Go function against the signature: (ctx, self for an instance method, the parameters in Python's order) and (result, error) or (error).
func (m *method) fit() error {
	t, in := m.goType, 0
	next := func() reflect.Type {
		if in >= t.NumIn() {
			return nil
		}
		in++
		return t.In(in - 1)
	}
	if next() != reflect.TypeFor[context.Context]() {
		return errors.New("the first parameter is no context.Context")
	}
	if m.instance {
		if self := next(); self == nil || !m.set.class.isSelf(self) {
			return fmt.Errorf("the second parameter is no *%s", m.set.class.name)
		}
	}
	for _, p := range m.travelling() {
		p.goType = next()
		if p.goType == nil {
			return fmt.Errorf("no Go parameter for %s", p.name)
		}
		var err error
		if p.carrier, err = m.set.class.reg.carrier(p.goType); err != nil {
			return fmt.Errorf("parameter %s: %w", p.name, err)
		}
		if p.role == varargs && p.goType.Kind() != reflect.Slice {
			return fmt.Errorf("parameter *%s is a %s, not a slice", p.name, p.goType)
		}
		m.params = append(m.params, p)
	}
	if in != t.NumIn() {
		return fmt.Errorf("%d Go parameters more than Python ones", t.NumIn()-in)
	}
	return m.fitResults()
}

// travelling lists the parameters that are sent.
func (m *method) travelling() []argument {
	var list []argument
	for _, p := range m.sig.arguments() {
		list = append(list, argument{param: p, role: positional})
	}
	if m.sig.varargs != "" {
		list = append(list, argument{param: param{name: m.sig.varargs}, role: varargs})
	}
	for _, p := range m.sig.kwonly {
		list = append(list, argument{param: p, role: keywordOnly})
	}
	if m.sig.varkw != "" {
		list = append(list, argument{param: param{name: m.sig.varkw}, role: varkw})
	}
	return list
}

// isSelf tells whether t can be the object that a method of the class is called on.
func (c *Class) isSelf(t reflect.Type) bool {
	if c.goType == nil {
		return t == reflect.TypeFor[*Record]()
	}
	return t == reflect.PointerTo(c.goType)
}

func (m *method) fitResults() error {
	t := m.goType
	n := t.NumOut()
	if n == 0 || n > 2 || t.Out(n-1) != reflect.TypeFor[error]() {
		return errors.New("the results are not (T, error) or (error)")
	}
	if n == 1 {
		return nil
	}
	c, err := m.set.class.reg.carrier(t.Out(0))
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	m.result = &argument{goType: t.Out(0), carrier: c}
	return nil
}
