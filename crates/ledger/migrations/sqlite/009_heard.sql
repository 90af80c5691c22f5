-- When the device that has a package last said something about it.
ALTER TABLE packages ADD COLUMN heard_at TEXT;
UPDATE packages SET heard_at = created_at WHERE state = 'claimed';
