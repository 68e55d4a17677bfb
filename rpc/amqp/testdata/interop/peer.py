"""The Python end of the interoperability tests, on whatever oslo.messaging the machine has.

usage: peer.py server URL EXCHANGE TOPIC SERVER     serves until its input ends; prints "ready" and, at the end, what was cast
       peer.py client URL EXCHANGE TOPIC SERVER     calls a Go server and prints one JSON object: scenario -> outcome
"""
import json
import logging
import os
import sys
import time
import types

from oslo_config import cfg
import oslo_messaging as messaging

# An exception module of the kind that Cyborg allow-lists: constructed from a message and keyword arguments.
lab = types.ModuleType('labexc')
exec('''
class ResourceNotFound(Exception):
    def __init__(self, message=None, **kwargs):
        self.kwargs = kwargs
        self.kwargs.setdefault('code', 404)
        self.code = self.kwargs['code']
        super().__init__(message or '%(resource)s not found' % kwargs)
''', lab.__dict__)
lab.ResourceNotFound.__module__ = 'labexc'
sys.modules['labexc'] = lab
hidden = types.ModuleType('hiddenexc')
exec('class Secret(Exception):\n    pass\n', hidden.__dict__)
hidden.Secret.__module__ = 'hiddenexc'
sys.modules['hiddenexc'] = hidden


class Plain:
    target = messaging.Target(version='1.5')

    def __init__(self):
        self.casts = []

    def echo(self, context, value):
        return value

    def context(self, context):
        return context

    def nothing(self, context):
        return None

    def slow(self, context, seconds):
        time.sleep(seconds)
        return 'slept'

    def note(self, context, text):
        self.casts.append(text)

    def noted(self, context):
        return sorted(self.casts)

    def fail(self, context, kind):
        if kind == 'value':
            raise ValueError('bad value')
        if kind == 'key':
            raise KeyError('missing')
        if kind == 'allowed':
            raise lab.ResourceNotFound(resource='Device', msg='gone')
        if kind == 'hidden':
            raise hidden.Secret('nobody may know')
        self.expected(context)

    @messaging.expected_exceptions(lab.ResourceNotFound)
    def expected(self, context):
        raise lab.ResourceNotFound(resource='Expected')


class Control:
    target = messaging.Target(version='2.1', namespace='ctl')

    def ping(self, context):
        return 'pong'


def outcome(call):
    try:
        return {'result': call()}
    except Exception as e:
        cls = type(e)
        return {'class': cls.__name__, 'module': cls.__module__, 'bases': [c.__name__ for c in cls.__mro__],
                'text': str(e), 'kwargs': getattr(e, 'kwargs', None), 'code': getattr(e, 'code', None),
                'exc_type': getattr(e, 'exc_type', None), 'value': getattr(e, 'value', None)}


def client(transport, topic, server):
    def target(**kw):
        return messaging.Target(topic=topic, **kw)

    def make(**kw):
        t = target(**kw)
        if hasattr(messaging, 'get_rpc_client'):
            return messaging.get_rpc_client(transport, t)
        return messaging.RPCClient(transport, t)

    c = make(version='1.0')
    ctx = {'user': 'u1', 'project_id': 'p1', 'is_admin': False, 'roles': ['member'], 'request_id': 'req-11', 'colour': 'blue'}
    out = {}
    value = {'text': 'grüße \u2603 \U0001f600', 'list': [1, 2.5, None, True], 'big': 2 ** 70, 'nested': {'a': {'b': []}}}
    out['echo'] = outcome(lambda: c.call(ctx, 'echo', value=value) == value)
    out['context'] = outcome(lambda: c.call(ctx, 'context'))
    out['nothing'] = outcome(lambda: c.call(ctx, 'nothing'))
    out['server'] = outcome(lambda: c.prepare(server=server).call(ctx, 'echo', value='direct'))
    out['namespace'] = outcome(lambda: make(version='2.0', namespace='ctl').call(ctx, 'ping'))
    out['minor'] = outcome(lambda: c.prepare(version='1.3').call(ctx, 'echo', value=1))
    out['too_new'] = outcome(lambda: c.prepare(version='1.9').call(ctx, 'echo', value=1))
    out['major'] = outcome(lambda: c.prepare(version='2.0').call(ctx, 'echo', value=1))
    out['wrong_namespace'] = outcome(lambda: make(version='1.0', namespace='nope').call(ctx, 'echo', value=1))
    out['no_method'] = outcome(lambda: c.call(ctx, 'missing'))
    out['private'] = outcome(lambda: c.call(ctx, '_private'))
    out['bad_args'] = outcome(lambda: c.call(ctx, 'echo', wrong=1))
    for kind in ('value', 'allowed', 'unmapped'):
        out['fail_' + kind] = outcome(lambda: c.call(ctx, 'fail', kind=kind))
    out['monitor'] = outcome(lambda: c.prepare(call_monitor_timeout=2, timeout=20).call(ctx, 'slow', seconds=3))
    out['monitor_missing'] = outcome(lambda: c.prepare(call_monitor_timeout=2, timeout=20).call(ctx, 'missing'))
    c.cast(ctx, 'note', text='cast')
    c.prepare(server=server).cast(ctx, 'note', text='server cast')
    c.prepare(fanout=True).cast(ctx, 'note', text='fanout')
    deadline = time.time() + 10
    while time.time() < deadline:
        out['noted'] = outcome(lambda: c.call(ctx, 'noted'))
        if len(out['noted'].get('result') or []) == 3:
            break
        time.sleep(0.1)
    print(json.dumps(out), flush=True)


def main():
    logging.disable(logging.WARNING)
    role, url, exchange, topic, server = sys.argv[1:6]
    conf = cfg.CONF
    conf([], project='interop')
    messaging.set_transport_defaults(exchange)
    transport = messaging.get_rpc_transport(conf, url=url, allowed_remote_exmods=['labexc', 'oslo_messaging.rpc.dispatcher'])
    if role == 'client':
        client(transport, topic, server)
        os._exit(0)
    plain = Plain()
    s = messaging.get_rpc_server(transport, messaging.Target(topic=topic, server=server), [plain, Control()], executor='threading',
                                 access_policy=messaging.DefaultRPCAccessPolicy)
    s.start()
    print('ready', flush=True)
    sys.stdin.read()
    os._exit(0)


main()
