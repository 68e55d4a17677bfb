"""The Python end of object indirection, on whatever oslo.versionedobjects and oslo.messaging the machine has.

usage: indirection.py agent URL HOST current|older     calls a Go conductor; prints one JSON object: scenario -> outcome
       indirection.py conductor URL HOST               serves a Go agent until its input ends; prints "ready", then what was called
       indirection.py client10 URL HOST                a client of RPC 1.0; prints one JSON object
"""
import json
import sys
import uuid

from oslo_config import cfg
import oslo_messaging as messaging
from oslo_versionedobjects import base
from oslo_versionedobjects import fields

MODE, URL, HOST = sys.argv[1:4]
OLDER = sys.argv[4:] == ['older']
Registry = base.VersionedObjectRegistry


class CyborgObject(base.VersionedObject):
    OBJ_SERIAL_NAMESPACE = 'cyborg_object'
    OBJ_PROJECT_NAMESPACE = 'cyborg'
    fields = {
        'created_at': fields.DateTimeField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
    }


class Serializer(base.VersionedObjectSerializer):
    OBJ_BASE_CLASS = CyborgObject


class Context:
    def __init__(self, **kw):
        self.values = dict({'is_admin': True, 'roles': [], 'service_catalog': []}, **kw)

    def to_dict(self):
        return self.values


class ContextSerializer(messaging.Serializer):
    def __init__(self, inner):
        self.inner = inner

    def serialize_entity(self, context, entity):
        return self.inner.serialize_entity(context, entity)

    def deserialize_entity(self, context, entity):
        return self.inner.deserialize_entity(context, entity)

    def serialize_context(self, context):
        return context.to_dict()

    def deserialize_context(self, values):
        return Context(**values)


def transport():
    messaging.set_transport_defaults('cyborg')
    cfg.CONF([], project='interop')
    return messaging.get_rpc_transport(cfg.CONF, url=URL, allowed_remote_exmods=['cyborg.common.exception'])


def rpc_client(version, cap):
    target = messaging.Target(topic='cyborg-conductor', version=version)
    serializer = ContextSerializer(Serializer())
    if hasattr(messaging, 'get_rpc_client'):
        return messaging.get_rpc_client(transport(), target, version_cap=cap, serializer=serializer)
    return messaging.RPCClient(transport(), target, version_cap=cap, serializer=serializer)


TYPES = ['GPU', 'FPGA', 'AICHIP', 'QAT', 'NIC', 'SSD', 'MDEV', 'PCI', 'NVME']
STATES = ['available', 'allocated', 'pending_cleaning', 'cleaning', 'error']


def device_fields():
    found = {
        'id': fields.IntegerField(nullable=False),
        'uuid': fields.UUIDField(nullable=False),
        'type': fields.EnumField(valid_values=TYPES, nullable=False),
        'vendor': fields.StringField(nullable=False),
        'model': fields.StringField(nullable=False),
        'std_board_info': fields.StringField(nullable=True),
        'vendor_board_info': fields.StringField(nullable=True),
        'hostname': fields.StringField(nullable=False),
        'status': fields.EnumField(valid_values=['enabled', 'maintaining'], nullable=False, default='enabled'),
    }
    if not OLDER:
        found['device_state'] = fields.EnumField(valid_values=STATES, nullable=True)
    return found


@Registry.register
class Device(CyborgObject):
    VERSION = '1.4' if OLDER else '1.5'
    fields = device_fields()


@Registry.register
class DeviceProfile(CyborgObject):
    VERSION = '1.1'
    fields = {
        'id': fields.IntegerField(nullable=False),
        'uuid': fields.UUIDField(nullable=False),
        'name': fields.StringField(nullable=False),
        'groups': fields.ListOfDictOfNullableStringsField(nullable=False),
        'description': fields.StringField(nullable=True),
    }


@Registry.register
class ARQ(CyborgObject):
    VERSION = '1.1'
    fields = {
        'id': fields.IntegerField(nullable=False),
        'uuid': fields.UUIDField(nullable=False),
        'state': fields.StringField(nullable=False),
        'device_profile_name': fields.StringField(nullable=False),
        'device_profile_group_id': fields.IntegerField(nullable=False),
        'hostname': fields.StringField(nullable=True),
        'device_rp_uuid': fields.StringField(nullable=True),
        'instance_uuid': fields.StringField(nullable=True),
        'project_id': fields.StringField(nullable=True),
        'attach_handle_type': fields.StringField(nullable=True),
        'attach_handle_uuid': fields.StringField(nullable=True),
        'attach_handle_info': fields.DictOfStringsField(nullable=True),
    }


@Registry.register
class ExtARQ(CyborgObject):
    VERSION = '1.2'
    fields = {
        'arq': fields.ObjectField('ARQ'),
        'substate': fields.StringField(),
        'deployable_uuid': fields.UUIDField(nullable=True),
        'device_profile_group': fields.DictOfStringsField(nullable=True),
        'attach_handle_id': fields.IntegerField(nullable=True),
        'deployable_id': fields.IntegerField(nullable=True),
    }


def part_fields():
    found = {'name': fields.StringField()}
    if not OLDER:
        found['colour'] = fields.StringField(nullable=True)
    return found


@Registry.register
class LabPart(CyborgObject):
    VERSION = '1.0' if OLDER else '1.1'
    fields = part_fields()


def remotable_classes():
    """What needs remotable class methods: oslo.versionedobjects 3.10."""

    @Registry.register
    class LabCounter(CyborgObject):
        VERSION = '1.0' if OLDER else '1.1'
        fields = dict({'count': fields.IntegerField(), 'part': fields.ObjectField('LabPart', nullable=True)},
                      **({} if OLDER else {'note': fields.StringField(nullable=True)}))

        @classmethod
        @base.remotable
        def get(cls, context, count):
            found = cls(context=context, count=count, part=LabPart(name='p', colour='red'), note='n')
            found.obj_reset_changes(recursive=True)
            return found

        @base.remotable
        def add(self, by):
            self.count += by
            return 'added'

        @base.remotable
        def missing(self):
            raise AssertionError('ran locally')

    def make_list(name, member, methods, rows):
        def lookup(method):
            def get(cls, context, hostname):
                result = cls(context=context, objects=rows(hostname))
                result.obj_reset_changes()
                return result
            get.__name__ = method
            return classmethod(base.remotable(get))
        namespace = {'VERSION': '1.0', 'fields': {'objects': fields.ListOfObjectsField(member)}}
        Registry.register(type(name, (base.ObjectListBase, CyborgObject), dict(namespace, **{m: lookup(m) for m in methods})))

    def stored(cls, **values):
        o = cls(**values)
        o.obj_reset_changes()
        return o

    def devices(hostname):
        if hostname != HOST:
            return []
        return [stored(Device, id=1, uuid=str(uuid.UUID(int=1)), type='FPGA', vendor='0xABCD', model='miss model info',
                       std_board_info='{"device_id": "0xabcd", "class": "Fake class"}', vendor_board_info='fake_vendor_info',
                       hostname=HOST, status='enabled', device_state='available', created_at=None, updated_at=None)]

    make_list('DeviceList', 'Device', ['get_by_hostname'], devices)
    if MODE == 'conductor':
        for name, member in (('ControlpathIDList', 'ControlpathID'), ('DeployableList', 'Deployable')):
            make_list(name, member, ['get_by_hostname'], lambda hostname: [])
        make_list('AttachHandleList', 'AttachHandle', ['get_by_hostname', 'get_referenced_by_hostname'], lambda hostname: [])
    return LabCounter


class Indirection(base.VersionedObjectIndirectionAPI):
    """The interface of oslo.versionedobjects over an oslo.messaging client of conductor RPC 1.1."""

    def __init__(self):
        super().__init__()
        self.client = rpc_client('1.0', '1.1')
        self.calls = []

    def call(self, context, method, **kw):
        self.calls.append(method)
        return self.client.prepare(version='1.1').call(context, method, **kw)

    def object_class_action_versions(self, context, objname, objmethod, object_versions, args, kwargs):
        return self.call(context, 'object_class_action_versions', objname=objname, objmethod=objmethod,
                         object_versions=object_versions, args=args, kwargs=kwargs)

    def object_action(self, context, objinst, objmethod, args, kwargs):
        return self.call(context, 'object_action', objinst=objinst, objmethod=objmethod, args=args, kwargs=kwargs)

    def object_backport_versions(self, context, objinst, object_versions):
        return self.call(context, 'object_backport_versions', objinst=objinst, object_versions=object_versions)


def agent():
    counter_class = remotable_classes()
    CyborgObject.indirection_api = Indirection()
    context = Context(request_id='req-1')
    device_list = Registry.obj_classes()['DeviceList'][0]
    out = {}
    found = device_list.get_by_hostname(context, HOST)
    out['devices'] = [{'vendor': d.vendor, 'version': d.VERSION, 'host': d.hostname, 'has_state': 'device_state' in d.fields,
                       'changes': sorted(d.obj_what_changed())} for d in found]
    out['unknown_host'] = len(device_list.get_by_hostname(context, hostname='nowhere'))
    counter = counter_class.get(context, 7)
    out['got'] = {'count': counter.count, 'version': counter.VERSION, 'part': counter.part.VERSION, 'name': counter.part.name}
    counter.part.name = 'mine'
    out['result'] = counter.add(by=2)
    out['after'] = {'count': counter.count, 'name': counter.part.name, 'changes': sorted(counter.obj_what_changed())}
    try:
        counter.missing()
    except Exception as e:
        out['missing'] = {'class': type(e).__name__, 'module': type(e).__module__, 'code': getattr(e, 'code', None), 'text': str(e)[:200]}
    out['calls'] = CyborgObject.indirection_api.calls
    print(json.dumps(out))


class Conductor:
    """Object operations by the rules of Nova's conductor."""
    target = messaging.Target(version='1.1')

    def __init__(self):
        self.called = []

    def report_data(self, context, hostname, driver_device_list):
        self.called.append(['report_data', hostname, len(driver_device_list)])

    def object_class_action_versions(self, context, objname, objmethod, object_versions, args, kwargs):
        self.called.append([objname, objmethod, args])
        cls = CyborgObject.obj_class_from_name(objname, object_versions[objname])
        result = getattr(cls, objmethod)(context, *args, **kwargs)
        if isinstance(result, base.VersionedObject):
            return result.obj_to_primitive(target_version=object_versions[objname], version_manifest=object_versions)
        return result

    def object_action(self, context, objinst, objmethod, args, kwargs):
        self.called.append([objinst.obj_name(), objmethod, args])
        before = objinst.obj_clone()
        result = getattr(objinst, objmethod)(*args, **kwargs)
        updates = {}
        for name, field in objinst.fields.items():
            if objinst.obj_attr_is_set(name) and (not before.obj_attr_is_set(name) or getattr(before, name) != getattr(objinst, name)):
                updates[name] = field.to_primitive(objinst, name, getattr(objinst, name))
        updates['obj_what_changed'] = objinst.obj_what_changed()
        return updates, result

    def object_backport_versions(self, context, objinst, object_versions):
        self.called.append([objinst.obj_name(), 'backport', []])
        return objinst.obj_to_primitive(target_version=object_versions[objinst.obj_name()], version_manifest=object_versions)


def driver_classes():
    """Just enough of a report to read one."""
    for name, version in (('DriverDevice', '1.4'), ('DriverControlPathID', '1.0'), ('DriverDeployable', '1.0'),
                          ('DriverAttribute', '1.0'), ('DriverAttachHandle', '1.0'), ('ControlpathID', '1.1'),
                          ('Deployable', '1.1'), ('AttachHandle', '1.1')):
        Registry.register(type(name, (CyborgObject,), {'VERSION': version, 'fields': {}}))


def conductor():
    driver_classes()
    remotable_classes()
    endpoint = Conductor()
    server = messaging.get_rpc_server(
        transport(), messaging.Target(topic='cyborg-conductor', server=HOST), [endpoint], executor='threading',
        serializer=ContextSerializer(Serializer()))
    server.start()
    print('ready', flush=True)
    sys.stdin.read()
    server.stop()
    server.wait()
    print(json.dumps(endpoint.called))


def client10():
    client = rpc_client('1.0', '1.0')
    context = Context(request_id='req-1', user='u', project_id='p', project='p')
    profile = DeviceProfile(name='old-client', uuid=str(uuid.uuid4()), groups=[{'resources:FPGA': '1'}], description=None)
    out = {}
    saved = client.call(context, 'device_profile_create', obj_devprof=profile)
    out['profile'] = {'version': saved.VERSION, 'name': saved.name, 'has_id': saved.id > 0, 'groups': saved.groups}
    arq = ExtARQ(arq=ARQ(device_profile_name=saved.name, device_profile_group_id=0, project_id='p'))
    created = client.call(context, 'arq_create', obj_extarq=arq, devprof_id=saved.id)
    out['arq'] = {'version': created.VERSION, 'inner': created.arq.VERSION, 'state': created.arq.state, 'project': created.arq.project_id}
    out['delete'] = client.call(context, 'arq_delete_by_uuid', arqs=created.arq.uuid)
    out['report'] = client.call(context, 'report_data', hostname=HOST, driver_device_list=[])
    out['instance'] = client.call(context, 'arq_delete_by_instance_uuid', instance=str(uuid.uuid4()))
    out['patch'] = client.call(context, 'arq_apply_patch', patch_list={}, valid_fields={})
    out['gone'] = client.call(context, 'device_profile_delete', obj_devprof=saved)
    try:
        client.call(context, 'arq_delete_by_uuid', arqs=created.arq.uuid)
    except Exception as e:
        out['twice'] = {'class': type(e).__name__, 'text': str(e)[:300]}
    try:
        client.prepare(version='1.1').call(context, 'object_action')
    except Exception as e:
        out['capped'] = type(e).__name__
    print(json.dumps(out))


{'agent': agent, 'conductor': conductor, 'client10': client10}[MODE]()
