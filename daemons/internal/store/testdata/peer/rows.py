"""Uses a Cyborg database through the objects of the installed release.

usage: rows.py CONFIG write HOST    create a device with all below it, a profile and an ARQ, and bind the ARQ
       rows.py CONFIG read HOST     print what the release sees of a host, as JSON
       rows.py CONFIG free HOST     unbind and delete the ARQs of a host, then delete its devices
"""
import json
import sys

from oslo_config import cfg

import cyborg.conf  # noqa: registers the options
from cyborg.common import rpc
from cyborg import context
from cyborg import objects

CONF = cfg.CONF


def write(ctx, host):
    dev = objects.Device(ctx, type='FPGA', vendor='0xABCD', model='m', hostname=host, std_board_info='{"a": "1"}',
                         vendor_board_info='vb')
    dev.create(ctx)
    cpid = objects.ControlpathID(ctx, device_id=dev.id, cpid_type='PCI',
                                 cpid_info='{"bus": "0c", "device": "00", "domain": "0000", "function": "0"}')
    cpid.create(ctx)
    dep = objects.Deployable(ctx, name=host + '_A', num_accelerators=2, device_id=dev.id, driver_name='fake')
    dep.create(ctx)
    dep.rp_uuid = '5d307dfd-11c5-3e4b-ab6d-8001a70a083a'
    dep.save(ctx)
    for key, value in (('rc', 'FPGA'), ('trait0', 'CUSTOM_A')):
        attr = objects.Attribute(ctx, key=key, value=value)
        attr.deployable_id = dep.id
        attr.create(ctx)
    for n in (1, 2):
        objects.AttachHandle(ctx, deployable_id=dep.id, cpid_id=cpid.id, attach_type='TEST_PCI', in_use=False,
                             attach_info='{"bus": "0c", "device": "00", "domain": "0000", "function": "%d"}' % n).create(ctx)
    dp = objects.DeviceProfile(ctx, name=host, groups=[{'resources:FPGA': '1', 'trait:CUSTOM_A': 'required'}])
    dp.create(ctx)
    ext = objects.ExtARQ(ctx, arq=objects.ARQ(ctx, device_profile_name=host, device_profile_group_id=0, project_id='p'))
    ext = ext.create(ctx, dp.id)
    bind(ctx, ext, host, dep)


def bind(ctx, ext, host, dep):
    handle = objects.AttachHandle.allocate(ctx, dep.id)
    ext.arq.hostname = host
    ext.arq.device_rp_uuid = dep.rp_uuid
    ext.arq.instance_uuid = '77777777-0000-0000-0000-000000000001'
    ext.update_check_state(ctx, 'BindStarted')
    ext.attach_handle_id = handle.id
    ext.deployable_id = dep.id
    ext.update_check_state(ctx, 'Bound')


def read(ctx, host):
    out = []
    for dev in objects.Device.get_list_by_hostname(ctx, host):
        d = {'uuid': dev.uuid, 'type': dev.type, 'vendor': dev.vendor, 'state': dev.device_state, 'status': dev.status,
             'board': dev.std_board_info, 'path': objects.ControlpathID.get_by_device_id(ctx, dev.id).cpid_info, 'deployables': []}
        for dep in objects.Deployable.get_list_by_device_id(ctx, dev.id):
            handles = objects.AttachHandle.get_ah_list_by_deployable_id(ctx, dep.id)
            d['deployables'].append({
                'name': dep.name, 'offer': dep.rp_uuid, 'n': dep.num_accelerators,
                'attributes': {a.key: a.value for a in objects.Attribute.get_by_deployable_id(ctx, dep.id)},
                'handles': sorted([h.attach_info, h.attach_type, h.in_use] for h in handles)})
        out.append(d)
    arqs = [[e.arq.state, e.arq.device_profile_name, e.arq.attach_handle_info]
            for e in objects.ExtARQ.list(ctx) if e.arq.hostname == host]
    print(json.dumps({'devices': out, 'arqs': sorted(arqs, key=str)}))


def free(ctx, host):
    for ext in objects.ExtARQ.list(ctx):
        if ext.arq.device_profile_name == host:
            if ext.attach_handle_id:
                objects.AttachHandle.get_by_id(ctx, ext.attach_handle_id).deallocate(ctx)
            ext.destroy(ctx)
    objects.DeviceProfile.get_by_name(ctx, host).destroy(ctx)
    for dev in objects.Device.get_list_by_hostname(ctx, host):
        for dep in objects.Deployable.get_list_by_device_id(ctx, dev.id):
            for handle in objects.AttachHandle.get_ah_list_by_deployable_id(ctx, dep.id):
                handle.destroy(ctx)
            for attr in objects.Attribute.get_by_deployable_id(ctx, dep.id):
                attr.destroy(ctx)
            dep.destroy(ctx)
        objects.ControlpathID.get_by_device_id(ctx, dev.id).destroy(ctx)
        dev.destroy(ctx)


if __name__ == '__main__':
    CONF(['--config-file', sys.argv[1]], project='cyborg')
    rpc.init(CONF)
    objects.register_all()
    {'write': write, 'read': read, 'free': free}[sys.argv[2]](context.get_admin_context(), sys.argv[3])
