"""The custodian's desk: analysts ask, the custodian's rows stay where they are.

A desk is a server in front of data sets and their one ledger. An analyst sends a question with a purpose, gets a free
forecast, and waits for approval; the charge, the approval and the job are one transaction; a worker in a process of its
own draws the noise once. What comes back are the result objects of the library. Nothing below this room knows of it.
"""
