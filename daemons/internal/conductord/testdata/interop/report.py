"""Plays an agent: sends report_data with N devices through Cyborg 17's own client, and prints how long the call took.
Usage: report.py CONFIG HOST N [CALLS]. N may be 0: nothing is left on the host."""
import json
import sys
import time

import cyborg.cmd  # noqa: F401  chooses the threading backend
from cyborg.common import service

config, host, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = int(sys.argv[4]) if len(sys.argv) > 4 else 1
service.prepare_service(['report', '--config-file', config])

from cyborg import context  # noqa: E402
from cyborg.conductor import rpcapi  # noqa: E402
from cyborg.objects.driver_objects import driver_attach_handle  # noqa: E402
from cyborg.objects.driver_objects import driver_attribute  # noqa: E402
from cyborg.objects.driver_objects import driver_controlpath_id  # noqa: E402
from cyborg.objects.driver_objects import driver_deployable  # noqa: E402
from cyborg.objects.driver_objects import driver_device  # noqa: E402


def device(i):
    address = json.dumps({'bus': '%02x' % (i // 256 + 1), 'device': '%02x' % (i // 8 % 32),
                          'domain': '0000', 'function': str(i % 8)})
    handle = driver_attach_handle.DriverAttachHandle(attach_type='PCI', attach_info=address, in_use=False)
    pairs = (('rc', 'CUSTOM_PCI'), ('trait0', 'OWNER_CYBORG'), ('trait1', 'CUSTOM_PCI_PRODUCT_ID_BEEF'))
    attributes = [driver_attribute.DriverAttribute(key=k, value=v) for k, v in pairs]
    deployable = driver_deployable.DriverDeployable(
        name='%s_%04d' % (host, i), num_accelerators=1, driver_name='TEST',
        attribute_list=attributes, attach_handle_list=[handle])
    return driver_device.DriverDevice(
        vendor='abcd', model='beef', type='GPU', std_board_info='{}', vendor_board_info='none', stub=False,
        controlpath_id=driver_controlpath_id.DriverControlPathID(cpid_type='PCI', cpid_info=address),
        deployable_list=[deployable])


api, devices, took = rpcapi.ConductorAPI(), [device(i) for i in range(count)], []
for _ in range(calls):
    start = time.time()
    api.report_data(context.get_admin_context(), host, devices)
    took.append(time.time() - start)
print(json.dumps(took))
