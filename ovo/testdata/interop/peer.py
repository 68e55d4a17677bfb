"""The Python end of the differential test: builds classes from data, does what it is told, and says what came out.

One JSON object a line on stdin, one a line on stdout. A request holds the definitions of the classes of a round, the steps that make
and change one object, versions to write it at, texts to read, and versions to look up; see interop_round_test.go.
"""
import datetime
import json
import logging
import sys
import warnings

import iso8601
import netaddr
from oslo_serialization import jsonutils
from oslo_utils import versionutils
from oslo_versionedobjects import base
from oslo_versionedobjects import exception
from oslo_versionedobjects import fields
from oslo_versionedobjects import fixture

warnings.simplefilter('ignore')
logging.disable(logging.CRITICAL)


class Base(base.VersionedObject):
    OBJ_SERIAL_NAMESPACE = 'cyborg_object'
    OBJ_PROJECT_NAMESPACE = 'cyborg'


def tagged(value):
    """Turns the encoding of a value into the value."""
    if isinstance(value, list):
        return [tagged(v) for v in value]
    if not isinstance(value, dict):
        return value
    (tag, content), = value.items()
    if tag == '$new':
        return make(content)
    return {
        '$int': int, '$float': float, '$ip': netaddr.IPAddress, '$net': netaddr.IPNetwork,
        '$time': iso8601.parse_date, '$naive': datetime.datetime.fromisoformat,
        '$tuple': lambda c: tuple(tagged(c)), '$set': lambda c: set(tagged(c)), '$frozenset': lambda c: frozenset(tagged(c)),
        '$dict': lambda c: {tagged(k): tagged(v) for k, v in c},
    }[tag](content)


def wire_type(spec):
    name = spec['name']
    if name in ('List', 'Dict', 'Set'):
        return getattr(fields, name)(wire_type(spec['element']), nullable=spec['element_nullable'])
    if name == 'Object':
        return fields.Object(spec['object'], subclasses=spec['subclasses'])
    if name == 'DateTime':
        return fields.DateTime(tzinfo_aware=not spec['naive'])
    if 'values' in spec:
        kind = fields.Enum if name == 'Enum' else type(name, (fields.Enum,), {})
        return kind(tagged(spec['values']))
    return getattr(fields, name)()


def field(definition):
    options = {'nullable': definition['nullable'], 'read_only': definition['read_only']}
    if 'default' in definition:
        options['default'] = tagged(definition['default'])
    spec = definition['type']
    if definition['opaque']:
        return fields.Field(wire_type(spec), **options)
    if spec['name'] == 'Object':
        return fields.ObjectField(spec['object'], subclasses=spec['subclasses'], **options)
    if spec['name'] == 'List' and spec['element']['name'] == 'Object':
        return fields.ListOfObjectsField(spec['element']['object'], subclasses=spec['element']['subclasses'], **options)
    if 'transitions' in spec:
        machine = type('Machine', (fields.StateMachine,), {'ALLOWED_TRANSITIONS': spec['transitions']})
        return machine(tagged(spec['values']), **options)
    if spec['name'] == 'List' and 'values' in spec['element'] and not definition['plain']:
        return fields.ListOfEnumField(tagged(spec['element']['values']), **options)
    if 'values' in spec and not definition['plain']:
        if spec['name'] == 'Enum':
            return fields.EnumField(tagged(spec['values']), **options)
        kind = type(spec['name'] + 'Field', (fields.BaseEnumField,), {'AUTO_TYPE': wire_type(spec)})
        return kind(**options)
    return type('AnyField', (fields.AutoTypedField,), {'AUTO_TYPE': wire_type(spec)})(**options)


def undo(rule, data):
    name = rule['field']
    if rule['op'] == 'adds':
        data.pop(name, None)
    elif rule['op'] == 'renames':
        if rule['to'] in data:
            data[name] = data.pop(rule['to'])
    elif data.get(name) in rule['values']:
        raise exception.ObjectActionError(action='obj_make_compatible', reason=name)


def define(definition):
    rules = definition['rules']
    bases = (base.ObjectListBase, Base) if definition['list'] else (Base,)
    if definition['iterable']:
        bases += (base.VersionedObjectDictCompat,)

    def obj_make_compatible(self, primitive, target_version):
        super(cls, self).obj_make_compatible(primitive, target_version)
        target = versionutils.convert_version_to_tuple(target_version)
        for rule in rules:
            if target < versionutils.convert_version_to_tuple(rule['below']):
                undo(rule, primitive)

    body = {'VERSION': definition['version'], 'fields': {d['name']: field(d) for d in definition['fields']},
            'obj_make_compatible': obj_make_compatible,
            'obj_relationships': {k: [tuple(p) for p in v] for k, v in definition['relationships'].items()}}
    if definition['list']:
        body['child_versions'] = dict(definition['child_versions'])
    for method in definition['methods']:
        scope = {'datetime': datetime}
        exec('def ' + method['line'] + ': pass', scope)
        function = base.remotable(scope[method['name']])
        body[method['name']] = classmethod(function) if method['class'] else function
    cls = type(definition['name'], bases, body)
    base.VersionedObjectRegistry.register(cls)


def make(content):
    o = base.VersionedObjectRegistry.obj_classes()[content['class']][0]()
    for name, value in content['fields']:
        setattr(o, name, tagged(value))
    if content['reset']:
        o.obj_reset_changes()
    return o


def step(o, s):
    for name, index in s.get('path', []):
        o = getattr(o, name)
        if index >= 0:
            o = o[index]
    op = s['op']
    if op == 'set':
        setattr(o, s['field'], tagged(s['value']))
    elif op == 'delete':
        delattr(o, s['field'])
    elif op == 'reset':
        o.obj_reset_changes(s['fields'] or None, recursive=s['recursive'])
    elif op == 'defaults':
        o.obj_set_defaults(*s['fields'])
    elif op == 'version':
        o.VERSION = s['value']


def failure(e):
    return {'error': type(e).__name__, 'message': str(e)}


def attempt(function):
    try:
        return function()
    except Exception as e:
        return failure(e)


def written(o, target=None, manifest=None):
    def run():
        return {'json': jsonutils.dumps(o.obj_to_primitive(target_version=target or None, version_manifest=manifest))}
    return attempt(run)


def stepped(o, s):
    step(o, s)
    return {}


def read(text, target='', manifest=None):
    def run():
        o = Base.obj_from_primitive(jsonutils.loads(text))
        return {'own': written(o), 'text': str(o), 'changes': sorted(o.obj_what_changed()), 'back': written(o, target, manifest)}
    return attempt(run)


def answer(request):
    classes = base.VersionedObjectRegistry.obj_classes()
    classes.clear()
    for definition in request['classes']:
        define(definition)
    o = classes[request['class']][0]()
    outcomes = [attempt(lambda s=s: stepped(o, s)) for s in request['steps']]
    own = written(o)
    return {
        'fingerprints': fixture.ObjectVersionChecker(classes).get_hashes(),
        'manifests': {name: base.obj_tree_get_versions(name) for name in classes},
        'outcomes': outcomes, 'own': own, 'text': attempt(lambda: {'json': str(o)}), 'changes': sorted(o.obj_what_changed()),
        'clone': written(o.obj_clone()), 'backs': [written(o, b['target'], b['manifest']) for b in request['backs']],
        'reads': [read(r['text'], r['target'], r['manifest']) for r in request['reads']],
        'again': read(own['json']) if 'json' in own else {},
        'lookups': [attempt(lambda q=q: {'json': base.VersionedObject.obj_class_from_name(*q).VERSION}) for q in request['lookups']],
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
