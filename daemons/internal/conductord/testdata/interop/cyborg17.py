"""The real Cyborg 17.0.0 as a peer: its own managers, RPC clients, objects and database code.

usage: cyborg17.py conductor URL HOST ENDPOINT    serves until its input ends; prints "ready". ENDPOINT/placement and
                                                  ENDPOINT/compute stand for Placement and Nova
       cyborg17.py agent URL HOST                 serves until its input ends; prints "ready", then what was called
       cyborg17.py client URL HOST                calls every method of RPC 1.0; prints one JSON object
"""
import json
import os
import sys
import tempfile
import uuid

MODE, URL, HOST = sys.argv[1:4]
os.environ.update(OS_DEFAULT__TRANSPORT_URL=URL, OS_DEFAULT__HOST=HOST, OS_AGENT__RESOURCE_PROVIDER_NAME=HOST)
DATABASE = tempfile.mktemp(suffix='.sqlite')
os.environ['OS_DATABASE__CONNECTION'] = 'sqlite:///' + DATABASE

import oslo_messaging as messaging

from cyborg import context as cyborg_context
from cyborg import objects
from cyborg.common import config
from cyborg.common import constants
from cyborg.common import rpc
from cyborg.common import service  # noqa: F401 registers the options that parse_args sets
from cyborg.common import utils
from cyborg.objects import base as objects_base

config.parse_args(['cyborg'], default_config_files=[])
objects.register_all()


def serve(topic, *endpoints):
    server = rpc.get_server(messaging.Target(topic=topic, server=HOST), list(endpoints), objects_base.CyborgObjectSerializer())
    server.start()
    print('ready', flush=True)
    sys.stdin.read()
    server.stop()
    server.wait()


class Rows:
    """What the database holds, for the test to ask about."""
    target = messaging.Target(version='1.0')

    def interop_rows(self, context):
        return {
            'devices': len(objects.Device.list(context)),
            'handles': len(objects.AttachHandle.list(context, {})),
            'profiles': [p.name for p in objects.DeviceProfile.list(context)],
            'arqs': [[a.arq.uuid, a.arq.state, a.arq.project_id, a.arq.hostname or ''] for a in objects.ExtARQ.list(context)],
        }


def conductor():
    from keystoneauth1 import adapter
    from keystoneauth1 import noauth
    from keystoneauth1 import session

    def service(service_type, check_service=False):
        url = '%s/%s' % (sys.argv[4], service_type)
        found = adapter.Adapter(session.Session(auth=noauth.NoAuth(endpoint=url)), service_type=service_type)
        plain = found.request
        found.request = lambda *a, **kw: plain(*a, **dict(kw, raise_exc=False))
        return found
    utils.get_sdk_adapter = service

    from cyborg.conductor import manager
    from cyborg.db.sqlalchemy import models
    from oslo_db.sqlalchemy import enginefacade
    models.Base.metadata.create_all(enginefacade.writer.get_engine())
    try:
        serve(constants.CONDUCTOR_TOPIC, manager.ConductorManager(constants.CONDUCTOR_TOPIC, HOST), Rows())
    finally:
        os.remove(DATABASE)
    print('{}')


def agent():
    from cyborg.accelerator.drivers.gpu import utils as gpu_utils
    from cyborg.agent import manager

    called = []

    class Driver:
        def create(self, name):
            called.append(['driver', name])
            return self

        def program(self, controlpath_id, path):
            called.append(['program', controlpath_id['cpid_info'], sorted(controlpath_id)])
            return True

    class Image:
        def download(self, context, image, dest_path=None):
            called.append(['download', image])
    gpu_utils.create_mdev_privileged = lambda *a: called.append(['create'] + list(a))
    gpu_utils.remove_mdev_privileged = lambda *a: called.append(['remove'] + list(a))
    agent_manager = manager.AgentManager.__new__(manager.AgentManager)
    agent_manager.fpga_driver, agent_manager.image_api = Driver(), Image()
    serve(constants.AGENT_TOPIC, agent_manager)
    print(json.dumps(called))


def outcome(call):
    try:
        return call()
    except Exception as e:
        return {'class': type(e).__name__, 'code': getattr(e, 'code', None)}


def show(extarq):
    arq = extarq.arq
    return {'version': extarq.VERSION, 'inner': arq.VERSION, 'state': arq.state, 'project': arq.project_id,
            'group': dict(extarq.device_profile_group), 'info': arq.attach_handle_info}


def client():
    from cyborg.accelerator.drivers import fake
    from cyborg.agent.rpcapi import AgentAPI
    from cyborg.conductor.rpcapi import ConductorAPI

    context = cyborg_context.RequestContext(user_id='u', project_id='p', is_admin=True, roles=['admin'], overwrite=False)
    api, agents = ConductorAPI(), AgentAPI()
    out = {}
    out['report'] = api.report_data(context, HOST, fake.FakeDriver().discover())
    profile = objects.DeviceProfile(context, name='seventeen', uuid=str(uuid.uuid4()), description=None,
                                    groups=[{'resources:FPGA': '1', 'trait:CUSTOM_FAKE_DEVICE': 'required'}])
    saved = api.device_profile_create(context, profile)
    out['profile'] = {'version': saved.VERSION, 'name': saved.name, 'groups': saved.groups, 'has_id': saved.id > 0}
    profile.uuid = str(uuid.uuid4())
    out['again'] = outcome(lambda: api.device_profile_create(context, profile))

    def create():
        arq = objects.ARQ(context, device_profile_name=saved.name, device_profile_group_id=0, project_id='p')
        return api.arq_create(context, objects.ExtARQ(context, arq=arq), saved.id)
    first, second = create(), create()
    out['created'] = show(first)
    instance, one = str(uuid.uuid4()), first.arq.uuid
    provider = str(uuid.uuid3(uuid.NAMESPACE_DNS, HOST + '_FakeDevice'))
    paths = ['hostname', 'device_rp_uuid', 'instance_uuid', 'project_id']
    values = dict(zip(paths, [HOST, provider, instance, 'p']))
    out['bind'] = api.arq_apply_patch(context, {one: [{'path': '/' + p, 'op': 'add', 'value': values[p]} for p in paths]}, {one: values})
    out['unbind'] = api.arq_apply_patch(context, {one: [{'path': '/' + p, 'op': 'remove', 'value': None} for p in paths]},
                                        {one: dict.fromkeys(paths)})
    out['delete'] = api.arq_delete_by_uuid(context, ','.join([one, second.arq.uuid]))
    out['twice'] = outcome(lambda: api.arq_delete_by_uuid(context, one))
    out['instance'] = api.arq_delete_by_instance_uuid(context, instance)
    out['gone'] = api.device_profile_delete(context, saved)
    out['program'] = agents.fpga_program(context, HOST, {'id': 1, 'uuid': str(uuid.UUID(int=1)), 'device_id': 2, 'cpid_type': 'PCI',
                                                         'cpid_info': {'bus': '0c'}, 'created_at': None, 'updated_at': None},
                                         str(uuid.UUID(int=2)), 'intel')
    out['mdev'] = [agents.create_vgpu_mdev(context, HOST, '0000:84:00.0', 'nvidia-223', str(uuid.UUID(int=3))),
                   agents.remove_vgpu_mdev(context, HOST, '0000:84:00.0', 'nvidia-223', str(uuid.UUID(int=3)))]
    print(json.dumps(out))


{'conductor': conductor, 'agent': agent, 'client': client}[MODE]()
