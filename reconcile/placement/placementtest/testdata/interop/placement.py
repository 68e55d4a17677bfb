# Serves a real Placement on a port of its own until its input ends. Prints the port.
import os
import sys
import tempfile
import threading
from wsgiref import simple_server

state = tempfile.TemporaryDirectory()
with open(os.path.join(state.name, "placement.conf"), "w") as f:
    f.write("[DEFAULT]\nlog_file = %s/placement.log\n" % state.name)
    f.write("[api]\nauth_strategy = noauth2\n[placement_database]\n"
            "connection = sqlite:///%s/placement.db\nsync_on_startup = true\n" % state.name)
os.environ["OS_PLACEMENT_CONFIG_DIR"] = state.name

from placement.wsgi import api  # noqa: E402


class Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass


server = simple_server.make_server("127.0.0.1", 0, api.application, handler_class=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
server.shutdown()
state.cleanup()
