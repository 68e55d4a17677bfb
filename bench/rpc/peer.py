"""The Python side of the benchmark: an echo server or a client of oslo.messaging.

usage: peer.py server URL EXCHANGE TOPIC
       peer.py client URL EXCHANGE TOPIC CALLERS SECONDS REQUEST_LENGTH

The server prints "ready", answers until its input ends, and prints {"calls", "cpu"}; the client prints {"calls", "seconds", "cpu"}.
"""
import json
import logging
import os
import resource
import sys
import threading
import time

from oslo_config import cfg
import oslo_messaging as messaging


# What Cyborg's RequestContext.to_dict() gives without a user: every client of this benchmark sends these 21 keys.
CONTEXT = dict.fromkeys((
    'user', 'user_id', 'user_name', 'project', 'project_id', 'project_name', 'domain', 'user_domain', 'project_domain', 'system_scope',
    'auth_token', 'global_request_id', 'resource_uuid'))
CONTEXT.update(is_admin=False, is_admin_project=True, read_only=False, show_deleted=False, roles=[], service_catalog=[],
               request_id='req-7c1f9a52-83d0-4b6e-9f35-2d4e6a8b0c17', user_identity='- - - - -')


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Endpoint:
    target = messaging.Target(version='1.0')

    def __init__(self):
        self.calls = 0

    def echo(self, context, text):
        self.calls += 1
        return 'y' * 250


def main():
    logging.disable(logging.WARNING)  # the pool of sending connections is meant to be exhausted here
    role, url, exchange, topic = sys.argv[1:5]
    conf = cfg.CONF
    conf([], project='bench')
    messaging.set_transport_defaults(exchange)
    transport = messaging.get_rpc_transport(conf, url=url)
    if role == 'server':
        endpoint = Endpoint()
        server = messaging.get_rpc_server(transport, messaging.Target(topic=topic, server='bench'), [endpoint], executor='threading')
        server.start()
        print('ready', flush=True)
        base = cpu()
        sys.stdin.read()
        print(json.dumps({'calls': endpoint.calls, 'cpu': cpu() - base}), flush=True)
        os._exit(0)
    callers, seconds, length = int(sys.argv[5]), float(sys.argv[6]), int(sys.argv[7])
    client = messaging.get_rpc_client(transport, messaging.Target(topic=topic, version='1.0'))
    text = 'x' * length
    client.call(CONTEXT, 'echo', text=text)
    counts, base, begin = [0] * callers, cpu(), time.time()
    end = begin + seconds

    def work(n):
        while time.time() < end:
            client.call(CONTEXT, 'echo', text=text)
            counts[n] += 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(callers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(json.dumps({'calls': sum(counts), 'seconds': time.time() - begin, 'cpu': cpu() - base}), flush=True)
    os._exit(0)


main()
