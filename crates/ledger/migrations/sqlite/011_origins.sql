-- Names of our own tokens that begin like those of another origin are kept with their own before them (crate `domain`,
-- `Names`). What a device was given when it enrolled is the device's.
UPDATE tokens SET actor = 'token:' || actor
WHERE (substr(actor, 1, 4) = 'jwt:' OR substr(actor, 1, 6) = 'token:' OR substr(actor, 1, 7) = 'device:')
  AND NOT (role = 'device' AND id IN (SELECT token_id FROM devices WHERE token_id IS NOT NULL));
UPDATE sign_ins SET actor = 'token:' || actor
WHERE substr(actor, 1, 4) = 'jwt:' OR substr(actor, 1, 6) = 'token:' OR substr(actor, 1, 7) = 'device:';
