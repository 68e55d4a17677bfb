"""The Python side of the benchmark: the report through oslo.versionedobjects.

Reads one JSON object {"body": text of the report} a line and answers {"fingerprints": ...}; then answers every {"seconds": s} with
{"each": seconds of one decode and encode, "length": bytes that came out}.
"""
import json
import logging
import sys
import time

from oslo_versionedobjects import base
from oslo_versionedobjects import fields
from oslo_versionedobjects import fixture

registry = base.VersionedObjectRegistry


class CyborgObject(base.VersionedObject, base.VersionedObjectDictCompat):
    OBJ_SERIAL_NAMESPACE = 'cyborg_object'
    OBJ_PROJECT_NAMESPACE = 'cyborg'
    fields = {
        'created_at': fields.DateTimeField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
    }


class DeviceTypeField(fields.AutoTypedField):
    AUTO_TYPE = fields.Enum(valid_values=('GPU', 'FPGA', 'AICHIP', 'QAT', 'NIC', 'SSD', 'MDEV', 'PCI', 'NVME'))


@registry.register
class DriverControlPathID(CyborgObject):
    VERSION = '1.0'
    fields = {'cpid_type': fields.StringField(), 'cpid_info': fields.StringField()}


@registry.register
class DriverAttribute(CyborgObject):
    VERSION = '1.0'
    fields = {'key': fields.StringField(), 'value': fields.StringField()}


@registry.register
class DriverAttachHandle(CyborgObject):
    VERSION = '1.0'
    fields = {
        'attach_type': fields.StringField(),
        'attach_info': fields.StringField(),
        'in_use': fields.BooleanField(default=False),
    }


@registry.register
class DriverDeployable(CyborgObject):
    VERSION = '1.0'
    fields = {
        'name': fields.StringField(),
        'num_accelerators': fields.IntegerField(),
        'attribute_list': fields.ListOfObjectsField('DriverAttribute', default=[], nullable=True),
        'attach_handle_list': fields.ListOfObjectsField('DriverAttachHandle', default=[], nullable=True),
        'driver_name': fields.StringField(nullable=True),
    }


@registry.register
class DriverDevice(CyborgObject):
    VERSION = '1.4'
    fields = {
        'vendor': fields.StringField(),
        'model': fields.StringField(),
        'type': DeviceTypeField(),
        'std_board_info': fields.StringField(nullable=True),
        'vendor_board_info': fields.StringField(nullable=True),
        'controlpath_id': fields.ObjectField('DriverControlPathID'),
        'deployable_list': fields.ListOfObjectsField('DriverDeployable', default=[]),
        'stub': fields.BooleanField(default=False),
        'device_state': fields.EnumField(
            valid_values=('available', 'allocated', 'pending_cleaning', 'cleaning', 'error'), nullable=True),
    }


def once(body):
    devices = [CyborgObject.obj_from_primitive(p) for p in json.loads(body)]
    return json.dumps([d.obj_to_primitive() for d in devices])


def main():
    logging.disable(logging.WARNING)
    body = json.loads(sys.stdin.readline())['body']
    print(json.dumps({'fingerprints': fixture.ObjectVersionChecker(registry.obj_classes()).get_hashes()}), flush=True)
    for line in sys.stdin:
        seconds, count, begin = json.loads(line)['seconds'], 0, time.perf_counter()
        while count < 3 or time.perf_counter() - begin < seconds:
            out = once(body)
            count += 1
        print(json.dumps({'each': (time.perf_counter() - begin) / count, 'length': len(out)}), flush=True)


main()
