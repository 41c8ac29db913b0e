BEGIN TRANSACTION;
CREATE TABLE answer(
    name TEXT, key TEXT, call TEXT NOT NULL, outcome TEXT NOT NULL, data TEXT NOT NULL,
    wall DOUBLE PRECISION NOT NULL, sum TEXT NOT NULL, PRIMARY KEY (name, key)) WITHOUT ROWID
;
CREATE TABLE event(
    name TEXT, seq BIGINT, time DOUBLE PRECISION NOT NULL, wall DOUBLE PRECISION NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    sum TEXT NOT NULL, changed TEXT, PRIMARY KEY (name, seq)) WITHOUT ROWID;
INSERT INTO "event" VALUES('a',1,5.0,1790000000.0,'c371e528e75cc6f5','store','{"number":0,"parcel":{"$":"Parcel","weight":0,"fragile":true},"note":{"$opaque":"Note","id":"str:note 0"}}','OPEN','0f3321665fa3866cd32f53ed556a60f5','{"variables":{"parcels":{"$map":[[0,{"$":"Parcel","weight":0,"fragile":true}]]},"queue":[0],"seen":{"$set":[0]},"last":{"$":"Parcel","weight":0,"fragile":true},"note":{"$opaque":"Note","id":"str:note 0"},"belt":{"machine":"Belt","parameters":{},"variables":{"moved":1}},"due":65.0},"started":{"due":60.0}}');
INSERT INTO "event" VALUES('a',2,15.0,1790000000.0,'c371e528e75cc6f5','store','{"number":{"$int":"1152921504606846976"},"parcel":{"$":"Parcel","weight":1,"fragile":false},"note":{"$opaque":"Note","id":"str:note 1"}}','OPEN','394705070b5276a8d0b9b571b7536d94','{"variables":{"parcels":{"$map":[[0,{"$":"Parcel","weight":0,"fragile":true}],[{"$int":"1152921504606846976"},{"$":"Parcel","weight":1,"fragile":false}]]},"queue":[0,{"$int":"1152921504606846976"}],"seen":{"$set":[0,{"$int":"1152921504606846976"}]},"last":{"$":"Parcel","weight":1,"fragile":false},"note":{"$opaque":"Note","id":"str:note 1"},"belt":{"machine":"Belt","parameters":{},"variables":{"moved":2}},"due":75.0},"started":{"due":60.0}}');
CREATE TABLE instance(
    name TEXT PRIMARY KEY, machine TEXT NOT NULL, seq BIGINT NOT NULL, sum TEXT NOT NULL,
    due DOUBLE PRECISION, due_copy DOUBLE PRECISION) WITHOUT ROWID;
INSERT INTO "instance" VALUES('a','Depot',2,'394705070b5276a8d0b9b571b7536d94',1790000060.0,1790000060.0);
CREATE TABLE output(
    name TEXT, seq BIGINT, machine TEXT NOT NULL, event TEXT NOT NULL, data TEXT NOT NULL,
    sum TEXT NOT NULL, tries BIGINT NOT NULL, due DOUBLE PRECISION, error TEXT,
    PRIMARY KEY (name, seq)) WITHOUT ROWID;
INSERT INTO "output" VALUES('a',1,'Depot','store','1','75de75442a2345f29d34b75c8baf2ad1',0,1790000000.0,NULL);
INSERT INTO "output" VALUES('a',2,'Depot','store','2','39aeb72603cffbcf4540af0d53d121c5',0,1790000000.0,NULL);
CREATE TABLE snapshot(
    name TEXT PRIMARY KEY, seq BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL,
    wall DOUBLE PRECISION NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL, chain TEXT NOT NULL,
    sum TEXT NOT NULL, version TEXT) WITHOUT ROWID;
INSERT INTO "snapshot" VALUES('a',0,5.0,1790000000.0,'{"v": 1, "shape": "a14b774452a80a34", "machine": "Depot", "parameters": {"limit": 3}, "variables": {"state": "OPEN", "parcels": {"$map": []}, "queue": [], "seen": {"$set": []}, "last": null, "note": null, "belt": {"machine": "Belt", "parameters": {}, "variables": {"moved": 0}}, "due": null}}','{}','ce68bc9fa16a272295e9f44fc67b54ab','2c619dccc577b1f929be9ca1e79b2ca2','9661d450ff3b6d40');
CREATE INDEX due ON instance(machine, due) WHERE due IS NOT NULL
;
CREATE INDEX open ON output(machine, due) WHERE due IS NOT NULL;
COMMIT;
PRAGMA user_version = 5;
