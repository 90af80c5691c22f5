-- What holds the scripts of a device, as it said when it enrolled.
ALTER TABLE devices ADD COLUMN cells_json TEXT;
