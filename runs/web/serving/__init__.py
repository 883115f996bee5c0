"""What stands between the sockets of clients and the pages: limits that hold before Django sees anything."""
