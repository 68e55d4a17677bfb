package store

import "strings"

// revisions is Cyborg's alembic chain from its beginning to [Head].
var revisions = []revision{
	{"f50980397351", "initial migration.", initialTables},
	{"d6f033d8fa5b", "add-quota-related-tables", quotaTables},
	{"ede4e3f1a232", "new_db_schema", newSchema},
	{"589ff20545b7", "add_aichip_type", deviceTypes("GPU", "FPGA", "AICHIP")},
	{"c1b5abada09c", "update_for_nova_integ", novaIntegration},
	{"57539722e5cf", "placeholder", nil},
	{"22fb1af2d51e", "placeholder", nil},
	{"7b696fd94949", "placeholder", nil},
	{"62bcf2610c5d", "placeholder", nil},
	{"7a4fd0fc3f8c", "placeholder", nil},
	{"60d8ac91fd20", "add_description_field_to_dps", []ddl{addColumn("device_profiles", "description", "TEXT")}},
	{"7e6f1f107f2b", "add_qat_type", deviceTypes("GPU", "FPGA", "AICHIP", "QAT")},
	{"899cead40bc9", "add_nic_type", deviceTypes("GPU", "FPGA", "AICHIP", "QAT", "NIC")},
	{"4cc1d79978fc", "add_ssd_type", deviceTypes("GPU", "FPGA", "AICHIP", "QAT", "NIC", "SSD")},
	{"6c77bd6afea5", "add-device-status", []ddl{addColumn("devices", "status", enum("enabled", "maintaining")+" NOT NULL")}},
	{"9625668549b5", "add_mdev_and_pci_types", deviceTypes("GPU", "FPGA", "AICHIP", "QAT", "NIC", "SSD", "MDEV", "PCI")},
	{"a35b4295a0e5", "add nvme type", deviceTypes("GPU", "FPGA", "AICHIP", "QAT", "NIC", "SSD", "MDEV", "PCI", "NVME")},
	{Head, "add device_state", []ddl{addColumn("devices", "device_state",
		enum("available", "allocated", "pending_cleaning", "cleaning", "error"))}},
}

func enum(values ...string) string { return "ENUM('" + strings.Join(values, "','") + "')" }

func deviceTypes(values ...string) []ddl {
	return []ddl{modifyColumn("devices", "type", enum(values...)+" NOT NULL")}
}

// initialTables had one table of accelerators; the third revision drops them.
var initialTables = []ddl{
	table("accelerators", innoDB, "uuid VARCHAR(36) NOT NULL", "name VARCHAR(255) NOT NULL", "description TEXT",
		"project_id VARCHAR(36)", "user_id VARCHAR(36)", "device_type TEXT NOT NULL", "acc_type TEXT", "acc_capability TEXT",
		"vendor_id TEXT NOT NULL", "product_id TEXT NOT NULL", "remotable INTEGER NOT NULL",
		"CONSTRAINT uniq_accelerators0uuid UNIQUE (uuid)"),
	table("deployables", innoDB, "uuid VARCHAR(36) NOT NULL", "name VARCHAR(255) NOT NULL", "parent_uuid VARCHAR(36)",
		"root_uuid VARCHAR(36)", "address TEXT NOT NULL", "host TEXT NOT NULL", "board TEXT NOT NULL", "vendor TEXT NOT NULL",
		"version TEXT NOT NULL", "type TEXT NOT NULL", "interface_type TEXT NOT NULL", "assignable BOOL NOT NULL",
		"instance_uuid VARCHAR(36)", "availability TEXT NOT NULL", "accelerator_id INTEGER NOT NULL",
		"CONSTRAINT uniq_deployables0uuid UNIQUE (uuid)",
		"FOREIGN KEY (parent_uuid) REFERENCES deployables (uuid)", "FOREIGN KEY (root_uuid) REFERENCES deployables (uuid)",
		"FOREIGN KEY (accelerator_id) REFERENCES accelerators (id) ON DELETE CASCADE"),
	addIndex("deployables", "deployables_parent_uuid_idx", "parent_uuid"),
	addIndex("deployables", "deployables_root_uuid_idx", "root_uuid"),
	table("attributes", innoDB, "uuid VARCHAR(36) NOT NULL", "deployable_id INTEGER NOT NULL", "`key` TEXT NOT NULL", "value TEXT NOT NULL",
		"CONSTRAINT uniq_attributes0uuid UNIQUE (uuid)",
		"FOREIGN KEY (deployable_id) REFERENCES deployables (id) ON DELETE CASCADE"),
	addIndex("attributes", "attributes_deployable_id_idx", "deployable_id"),
}

// quotaTables are created and never used.
var quotaTables = []ddl{
	table("quota_usages", "", "project_id VARCHAR(255)", "user_id VARCHAR(255)", "resource VARCHAR(255) NOT NULL",
		"in_use INTEGER NOT NULL", "reserved INTEGER NOT NULL", "until_refresh INTEGER"),
	addIndex("quota_usages", "ix_quota_usages_project_id", "project_id"),
	addIndex("quota_usages", "ix_quota_usages_user_id", "user_id"),
	table("reservations", "", "uuid VARCHAR(36) NOT NULL", "usage_id INTEGER NOT NULL", "project_id VARCHAR(255)",
		"user_id VARCHAR(255)", "resource VARCHAR(255)", "delta INTEGER NOT NULL", "expire DATETIME",
		"FOREIGN KEY (usage_id) REFERENCES quota_usages (id)"),
	addIndex("reservations", "ix_reservations_project_id", "project_id"),
	addIndex("reservations", "ix_reservations_user_id", "user_id"),
	addIndex("reservations", "reservations_uuid_idx", "uuid"),
}

// newSchema drops the tables of the first revision with what they hold and
// creates today's.
var newSchema = []ddl{
	dropOldTable("attributes"),
	dropOldTable("deployables"),
	{sql: "DROP TABLE IF EXISTS accelerators"},
	table("devices", innoDB, "uuid VARCHAR(36) NOT NULL", "type "+enum("GPU", "FPGA")+" NOT NULL", "vendor VARCHAR(255) NOT NULL",
		"model VARCHAR(255) NOT NULL", "std_board_info TEXT", "vendor_board_info TEXT", "hostname VARCHAR(255) NOT NULL", "UNIQUE (uuid)"),
	table("deployables", innoDB, "uuid VARCHAR(36) NOT NULL", "parent_id INTEGER", "root_id INTEGER", "name VARCHAR(255) NOT NULL",
		"num_accelerators INTEGER NOT NULL", "device_id INTEGER NOT NULL", "UNIQUE (uuid)",
		"FOREIGN KEY (parent_id) REFERENCES deployables (id) ON DELETE CASCADE",
		"FOREIGN KEY (root_id) REFERENCES deployables (id) ON DELETE CASCADE",
		"FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE RESTRICT"),
	addIndex("deployables", "deployables_parent_id_idx", "parent_id"),
	addIndex("deployables", "deployables_device_id_idx", "device_id"),
	addIndex("deployables", "deployables_root_id_idx", "root_id"),
	table("attributes", innoDB, "uuid VARCHAR(36) NOT NULL", "deployable_id INTEGER NOT NULL", "`key` TEXT NOT NULL", "value TEXT NOT NULL",
		"UNIQUE (uuid)", "FOREIGN KEY (deployable_id) REFERENCES deployables (id) ON DELETE RESTRICT"),
	addIndex("attributes", "ix_attributes_deployable_id", "deployable_id"),
	table("controlpath_ids", innoDB, "uuid VARCHAR(36) NOT NULL", "device_id INTEGER NOT NULL", "cpid_type "+enum("PCI")+" NOT NULL",
		"cpid_info VARCHAR(255) NOT NULL", "UNIQUE (uuid)", "FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE RESTRICT"),
	addIndex("controlpath_ids", "ix_controlpath_ids_device_id", "device_id"),
	table("attach_handles", innoDB, "uuid VARCHAR(36) NOT NULL", "deployable_id INTEGER NOT NULL", "cpid_id INTEGER NOT NULL", "in_use BOOL",
		"attach_type "+enum("PCI", "MDEV")+" NOT NULL", "attach_info VARCHAR(255) NOT NULL", "UNIQUE (uuid)",
		"FOREIGN KEY (deployable_id) REFERENCES deployables (id) ON DELETE RESTRICT",
		"FOREIGN KEY (cpid_id) REFERENCES controlpath_ids (id) ON DELETE RESTRICT"),
	addIndex("attach_handles", "attach_handles_deployable_id_idx", "deployable_id"),
	addIndex("attach_handles", "attach_handles_cpid_id_idx", "cpid_id"),
	table("device_profiles", innoDB, "uuid VARCHAR(36) NOT NULL", "name VARCHAR(255) NOT NULL", "profile_json TEXT NOT NULL",
		"CONSTRAINT uniq_device_profiles0uuid0name UNIQUE (uuid, name)"),
	table("extended_accelerator_requests", innoDB, "uuid VARCHAR(36) NOT NULL", "project_id VARCHAR(255)",
		"state "+enum("Initial", "Bound", "BindFailed")+" NOT NULL", "device_profile_id INTEGER NOT NULL", "hostname VARCHAR(255)",
		"device_rp_uuid VARCHAR(36)", "device_instance_uuid VARCHAR(36)", "attach_handle_id INTEGER", "substate "+enum("Initial")+" NOT NULL",
		"deployable_id INTEGER", "UNIQUE (uuid)",
		"FOREIGN KEY (device_profile_id) REFERENCES device_profiles (id) ON DELETE RESTRICT",
		"FOREIGN KEY (attach_handle_id) REFERENCES attach_handles (id) ON DELETE RESTRICT",
		"FOREIGN KEY (deployable_id) REFERENCES deployables (id) ON DELETE RESTRICT"),
	addIndex("extended_accelerator_requests", "extArqs_deployable_id_idx", "deployable_id"),
	addIndex("extended_accelerator_requests", "extArqs_attach_handle_id_idx", "attach_handle_id"),
	addIndex("extended_accelerator_requests", "extArqs_device_rp_uuid_idx", "device_rp_uuid"),
	addIndex("extended_accelerator_requests", "extArqs_device_instance_uuid_idx", "device_instance_uuid"),
	addIndex("extended_accelerator_requests", "extArqs_device_profile_id_idx", "device_profile_id"),
	addIndex("extended_accelerator_requests", "extArqs_project_id_idx", "project_id"),
}

// novaIntegration makes profile names unique and gives ARQs their instance.
var novaIntegration = []ddl{
	addColumn("deployables", "rp_uuid", "VARCHAR(36)"),
	addColumn("deployables", "driver_name", "VARCHAR(100)"),
	addColumn("deployables", "bitstream_id", "VARCHAR(36)"),
	addColumn("extended_accelerator_requests", "device_profile_group_id", "INTEGER NOT NULL"),
	addColumn("extended_accelerator_requests", "instance_uuid", "VARCHAR(36)"),
	addIndex("extended_accelerator_requests", "extArqs_instance_uuid_idx", "instance_uuid"),
	dropIndex("extended_accelerator_requests", "extArqs_device_instance_uuid_idx"),
	dropColumn("extended_accelerator_requests", "device_instance_uuid"),
	modifyColumn("extended_accelerator_requests", "state",
		enum("Initial", "BindStarted", "Bound", "Unbound", "BindFailed", "Deleting")+" NOT NULL"),
	modifyColumn("attach_handles", "attach_type", enum("PCI", "MDEV", "TEST_PCI")+" NOT NULL"),
	addUnique("device_profiles", "uniq_device_profiles0uuid", "uuid"),
	addUnique("device_profiles", "uniq_device_profiles0name", "name"),
	dropIndex("device_profiles", "uniq_device_profiles0uuid0name"),
}
